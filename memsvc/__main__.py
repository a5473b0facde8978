"""`python -m memsvc` is the command `memsvc`."""

from memsvc.interfaces.cli import main

main()
