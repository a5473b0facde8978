"""memsvc: the memory of LLM agents. Every message kept, and at each turn the little a model needs."""

from memsvc.errors import (
    Conflict,
    HomeLocked,
    InvalidArgument,
    InvalidMessage,
    MemsvcError,
    ModelError,
    Overloaded,
    ServiceClosed,
    SessionNotFound,
    SettingsError,
    StorageError,
)
from memsvc.handle import Session
from memsvc.model import (
    Context,
    Hit,
    Hits,
    Message,
    Receipt,
    ServiceStatus,
    SessionInfo,
    SessionPage,
    SessionStatus,
    Summary,
)
from memsvc.semantic.embedder import Embedder
from memsvc.service import MemoryService
from memsvc.settings import Settings
from memsvc.version import __version__

__all__ = [
    "Conflict",
    "Context",
    "Embedder",
    "Hit",
    "Hits",
    "HomeLocked",
    "InvalidArgument",
    "InvalidMessage",
    "MemoryService",
    "MemsvcError",
    "Message",
    "ModelError",
    "Overloaded",
    "Receipt",
    "ServiceClosed",
    "ServiceStatus",
    "Session",
    "SessionInfo",
    "SessionNotFound",
    "SessionPage",
    "SessionStatus",
    "Settings",
    "SettingsError",
    "StorageError",
    "Summary",
    "__version__",
]
