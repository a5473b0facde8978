"""Reading settings from a file and the environment, strictly: an unknown name is an error."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from memsvc.errors import SettingsError

_PREFIX = "MEMSVC_"
# Names that belong to the command line, the benches and the tests, not to the tree.
_OTHER_VARIABLES = frozenset({"MEMSVC_URL", "MEMSVC_LOCOMO", "MEMSVC_TEST_ROUNDS"})


def read_file(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file; none when it is missing.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"{path} cannot be read: {reason}.", "Correct it.") from None


@cache
def known_settings(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the types of a group's settings by name."""
    return get_type_hints(kind)


def is_group(kind: Any) -> bool:
    """Say whether a type is a group of settings."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def refuse_unknown(
    tree: Mapping[str, Any], kind: type[msgspec.Struct], path: str, where: str
) -> None:
    """Check that every name is a setting.

    Args:
        tree: names and values.
        kind: the group they belong to.
        path: of the group, empty or ending in a dot.
        where: the values come from, for the error.

    Raises:
        SettingsError: one is not; the nearest known one is named.
    """
    known = known_settings(kind)
    for name, value in tree.items():
        if path + name == "home":
            raise SettingsError(
                f"home cannot be set in {where}: the file is found by it.",
                "Set MEMSVC_HOME, or give the home as an argument.",
            )
        if name not in known:
            raise SettingsError(
                f"{path}{name} in {where} is not a setting.", _nearest(name, known, path)
            )
        if is_group(known[name]):
            if not isinstance(value, dict):
                raise SettingsError(
                    f"{path}{name} in {where} is a group.", "Set one of the settings in it."
                )
            refuse_unknown(value, known[name], f"{path}{name}.", where)
        elif isinstance(value, dict):
            raise SettingsError(f"{path}{name} in {where} is no group.", "Give it a plain value.")


def _nearest(name: str, known: Mapping[str, Any], path: str) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {path}{close[0]}?"
    return f"Known here: {', '.join(sorted(known))}."


def merge_environment(
    tree: dict[str, Any], environ: Mapping[str, str], kind: type[msgspec.Struct]
) -> None:
    """Put the values of `MEMSVC_*` variables into a tree, over what is there.

    Raises:
        SettingsError: a variable names no setting.
    """
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        path = variable.removeprefix(_PREFIX).lower().split("__")
        if path == ["home"]:
            continue
        given: dict[str, Any] = {}
        node = given
        for part in path[:-1]:
            node[part] = {}
            node = node[part]
        node[path[-1]] = value
        refuse_unknown(given, kind, "", f"the environment ({variable})")
        target = tree
        for part in path[:-1]:
            target = target.setdefault(part, {})
        target[path[-1]] = value
