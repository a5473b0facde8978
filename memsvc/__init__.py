"""memsvc: the memory of LLM agents. Every message kept, and at each turn the little a model needs.

What only holds data is here at once; what works is loaded when it is first named, so that a program that
imports memsvc and does not use it yet pays little.
"""

from typing import TYPE_CHECKING, Any

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
from memsvc.settings import Settings
from memsvc.version import __version__

if TYPE_CHECKING:
    from memsvc.handle import Session
    from memsvc.semantic.embedder import Embedder
    from memsvc.service import MemoryService

_LAZY = {
    "Embedder": "memsvc.semantic.embedder",
    "MemoryService": "memsvc.service",
    "Session": "memsvc.handle",
}

__all__ = [
    "Conflict", "Context", "Embedder", "Hit", "Hits", "HomeLocked", "InvalidArgument",
    "InvalidMessage", "MemoryService", "MemsvcError", "Message", "ModelError", "Overloaded",
    "Receipt", "ServiceClosed", "ServiceStatus", "Session", "SessionInfo", "SessionNotFound",
    "SessionPage", "SessionStatus", "Settings", "SettingsError", "StorageError", "Summary",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memsvc' has no attribute {name!r}")
