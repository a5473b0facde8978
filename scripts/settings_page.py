"""Writes docs/settings.md from the docstrings under the fields of memsvc/settings.py."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "settings.md"
SOURCE = ROOT / "memsvc" / "settings.py"

HEAD = """# Settings

Every setting has a default; none has to be set. A value is taken from, in this order: the argument of
`Settings(...)`, the environment, `<home>/config.toml`, the default. In the environment a setting is
`MEMSVC_` and its name in capitals, with two underscores for the dot: `MEMSVC_SEMANTIC__MODEL`. An
unknown name is an error that names the nearest known one. The home itself is `MEMSVC_HOME` or `--home`.

    # config.toml
    durability = "full"

    [semantic]
    embedder = "openai"
    base_url = "http://localhost:11434/v1"
    model = "bge-m3"

Sizes are in bytes, times in seconds.

| setting | default | meaning |
| --- | --- | --- |
"""


def fields(kind: ast.ClassDef) -> list[tuple[str, str, str, str]]:
    """Return name, type, default and docstring of each field of a class."""
    found = []
    for field, after in zip(kind.body, kind.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = " ".join(str(after.value.value).split())
            default = ast.unparse(field.value) if field.value else ""
            found.append((field.target.id, ast.unparse(field.annotation), default, text))
    last = kind.body[-1]
    if isinstance(last, ast.AnnAssign) and isinstance(last.target, ast.Name):
        found.append(
            (last.target.id, ast.unparse(last.annotation), ast.unparse(last.value or last), "")
        )
    return found


def shown(default: str) -> str:
    """Return a default as people write it."""
    for unit, word in (("MIB", "MiB"), ("KIB", "KiB")):
        default = default.replace(f" * {unit}", f" {word}")
    return default.replace("'", '"').replace("_", "")


def page() -> str:
    """Return the page."""
    tree = ast.parse(SOURCE.read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    rows = []
    for name, kind, default, text in fields(classes["Settings"]):
        if kind in classes:
            rows += [(f"{name}.{inner}", d, t) for inner, _, d, t in fields(classes[kind])]
        else:
            rows.append((name, default, text))
    return HEAD + "".join(f"| `{name}` | {shown(d)} | {t} |\n" for name, d, t in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
