"""The archive: SQLite with full text, every message ever appended. The truth all else is mended from."""
