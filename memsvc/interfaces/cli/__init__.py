"""The command line. Its libraries come with the extra `memsvc[cli]`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the entry point of `memsvc`."""
    try:
        from memsvc.interfaces.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("cyclopts", "rich"):
            raise
        print(
            f"memsvc: the command line needs {error.name}, which is not installed."
            " Run: pip install 'memsvc[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    sys.exit(run())
