"""The version of memsvc."""

__version__ = "0.1.0"
