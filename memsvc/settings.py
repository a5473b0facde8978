"""Settings: one frozen tree, grouped by subject, with the reason for each default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

import msgspec

from memsvc import loading
from memsvc.errors import SettingsError

KIB = 1024
MIB = 1024 * KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of anything is taken at once."""

    max_message_bytes: int = 1 * MIB
    """Largest message, in bytes of JSON. Larger ones belong in a file that a message points at."""
    max_batch: int = 1000
    """Most messages in one append."""
    max_batch_bytes: int = 32 * MIB
    """Most bytes of JSON in one append: what one transaction holds in memory."""
    max_depth: int = 100
    """Deepest nesting of lists and objects in a message."""
    max_query_chars: int = 10_000
    """Longest search query, in characters."""
    mailbox: int = 1024
    """Appends and reads that may wait at one session; one more is `Overloaded`."""
    timeout: float = 30.0
    """Seconds after which a call that waits for an actor gives up."""


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model sees in full."""

    max_messages: int = 16
    """Newest messages given to the model, before whole exchanges are respected."""


class History(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file history.json of a session."""

    max_bytes: int = 4 * MIB
    """Size past which a session's oldest messages leave history.json. They stay in the archive."""


class Archive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The SQLite archive."""

    readers: int = 2
    """Read-only connections; each has a thread of its own."""
    group_max: int = 512
    """Most appends (each of one session) in one transaction."""
    mailbox: int = 4096
    """Writes that may wait for the writer."""
    cache_bytes: int = 32 * MIB
    """Page cache of the write connection; half of it for each reader."""


class Semantic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Search by meaning."""

    embedder: Literal["builtin", "openai", "hash", "none"] = "builtin"
    """`builtin`: multilingual, in this process, no network. `openai`: any compatible endpoint.
    `hash`: by shared words only, for tests. `none`: keyword search only."""
    base_url: str = ""
    """URL of the endpoint for `openai`, such as http://localhost:11434/v1. Text is sent there."""
    model: str = ""
    """Name of the endpoint's model."""
    api_key: str = ""
    """Key for the endpoint; OPENAI_API_KEY when empty."""
    dimensions: int = 0
    """Length of vectors to ask the endpoint for; 0 leaves it to the model."""
    batch: int = 16
    """Messages embedded in one call."""
    threads: int = 1
    """Threads of the built-in embedder for one call; more only where cores are free for them."""
    max_chars: int = 2000
    """Characters of a message that are embedded; keyword search covers all of it. The built-in
    model reads about 500 tokens at a time, and its cost grows with the text."""
    timeout: float = 60.0
    """Seconds for one call to the embedder, retries included."""
    retry_initial: float = 1.0
    """Seconds before a failed batch is tried again; doubles each time."""
    retry_max: float = 300.0
    """Longest wait before a failed batch is tried again, in seconds."""
    exact_max: int = 10_000
    """Vectors up to which a session is searched exactly; an index is used above."""
    cache_bytes: int = 256 * MIB
    """Memory for the vectors of sessions searched lately."""
    flush_timeout: float = 600.0
    """Seconds after which `flush()` gives up."""

    def __repr__(self) -> str:  # settings are printed and logged: not the key
        names = (name for name in self.__struct_fields__ if name != "api_key")
        return f"Semantic({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


class Search(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Search."""

    candidates: int = 400
    """Messages of each kind that are looked at before the best are chosen."""
    rank_hits_max: int = 5000
    """Keyword hits up to which all are ranked; above, only the newest this many are."""
    scan_max: int = 20_000
    """Messages read at most when a query has no word to look up (only punctuation)."""
    sessions_max: int = 1000
    """Sessions looked at in a search across sessions, those used last."""
    prefix_vectors_max: int = 50_000
    """Newest vectors compared in a search across sessions."""
    timeout: float = 10.0
    """Seconds after which a search is stopped."""


class Sessions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sessions in memory."""

    idle: float = 300.0
    """Seconds without use after which a session leaves memory."""
    max_active: int = 20_000
    """Sessions in memory; above, the least recently used leave."""


class Shutdown(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end."""

    grace: float = 10.0
    """Seconds in which work under way is finished when the service closes."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. `Settings(home=…)` has defaults; `Settings.load()` reads file and environment.

    Raises:
        SettingsError: a value is out of range, or two do not fit each other.
    """

    home: str = ""
    """Directory of all data; empty is the platform's user data directory."""
    durability: Literal["full", "normal"] = "full"
    """`full`: an acknowledged append survives power loss. `normal`: it survives kill -9."""
    strip_prefixes: bool = False
    """Take `sendAt:`, `sender:` and `channelId:` lines off the start of appended content."""
    limits: Limits = Limits()
    window: Window = Window()
    history: History = History()
    archive: Archive = Archive()
    semantic: Semantic = Semantic()
    search: Search = Search()
    sessions: Sessions = Sessions()
    shutdown: Shutdown = Shutdown()

    def __post_init__(self) -> None:
        if isinstance(self.home, Path):
            msgspec.structs.force_setattr(self, "home", str(self.home))
        _check(self, "")
        if self.limits.max_message_bytes > self.limits.max_batch_bytes:
            raise SettingsError(
                "limits.max_message_bytes is larger than limits.max_batch_bytes.",
                "A batch must hold at least one message: raise limits.max_batch_bytes.",
            )
        if self.semantic.embedder == "openai" and not self.semantic.base_url:
            raise SettingsError(
                "semantic.embedder is openai, but semantic.base_url is empty.",
                "Set semantic.base_url (MEMSVC_SEMANTIC__BASE_URL) to the endpoint that may see the"
                " text; nothing is sent anywhere until you do.",
            )

    @property
    def home_path(self) -> Path:
        """The home as an absolute path."""
        if self.home:
            return Path(self.home).expanduser().absolute()
        import platformdirs  # only here: importing memsvc must stay cheap

        return Path(platformdirs.user_data_dir("memsvc", appauthor=False)).absolute()

    @classmethod
    def load(cls, home: str | None = None, environ: Mapping[str, str] | None = None) -> Self:
        """Return the settings of an argument, then the environment, then <home>/config.toml.

        Args:
            home: the home; otherwise MEMSVC_HOME, otherwise the platform's user data directory.
            environ: variables to read instead of the process's own.

        Raises:
            SettingsError: a name is unknown (the nearest known one is named), or a value is wrong.
        """
        environ = os.environ if environ is None else environ
        chosen = home or environ.get("MEMSVC_HOME", "")
        path = cls(home=chosen).home_path
        tree = loading.read_file(path / "config.toml")
        loading.refuse_unknown(tree, cls, "", str(path / "config.toml"))
        loading.merge_environment(tree, environ, cls)
        tree["home"] = str(path)
        try:
            return msgspec.convert(tree, cls, strict=False)
        except msgspec.ValidationError as error:
            if isinstance(error.__cause__, SettingsError):  # of the checks above
                raise error.__cause__ from None
            raise SettingsError(f"A setting has a wrong value: {error}.", "Correct it.") from None


def _check(group: msgspec.Struct, path: str) -> None:
    for name, kind in loading.known_settings(type(group)).items():
        value = getattr(group, name)
        if isinstance(value, msgspec.Struct) and isinstance(value, kind):
            _check(value, f"{path}{name}.")
            continue
        try:  # msgspec itself checks types only when it decodes
            if loading.is_group(kind):
                raise msgspec.ValidationError(f"Expected `{kind.__name__}`")
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise SettingsError(f"{path}{name} is wrong: {error}.", "Correct it.") from None
        if isinstance(value, int | float) and not isinstance(value, bool):
            least = 0 if name == "dimensions" else 1 if kind is int else 0.001
            if not least <= value < float("inf"):
                raise SettingsError(
                    f"{path}{name} is {value!r}.", f"Give a number of at least {least}."
                )
