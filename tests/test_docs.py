"""The docs name what there is, and what they link to exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from memsvc import errors
from memsvc.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def names(group: type, path: str = "") -> list[str]:
    found = []
    for name in group.__struct_fields__:
        default = getattr(Settings() if path == "" else group(), name)
        found += (
            names(type(default), f"{name}.")
            if hasattr(default, "__struct_fields__")
            else [f"{path}{name}"]
        )
    return found


def test_every_setting_is_on_its_page() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    missing = [name for name in names(Settings) if f"`{name}`" not in page]
    assert missing == []


def test_the_page_of_settings_is_the_generated_one(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import settings_page
    finally:
        sys.path.pop(0)
    assert settings_page.page() == (ROOT / "docs" / "settings.md").read_text("utf-8"), (
        "run `make docs`"
    )


def test_every_error_and_its_code_is_on_its_page() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.MemsvcError):
            assert f"`{kind.__name__}`" in page
            assert kind is errors.MemsvcError or f"`{kind.code}`" in page


def test_every_command_is_on_its_page_and_explains_itself() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    for command in (
        "demo",
        "append",
        "context",
        "search",
        "sessions",
        "status",
        "import",
        "export",
        "remove",
    ):
        assert f"`memsvc {command}" in page
    help_text = subprocess.run(
        [sys.executable, "-m", "memsvc", "--help"], capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"[a-z]+", help_text)
    assert {
        "demo",
        "append",
        "context",
        "search",
        "sessions",
        "status",
        "import",
        "export",
        "remove",
    } <= set(listed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_no_host_is_named_in_the_lock() -> None:
    assert "://" not in (ROOT / "requirements.lock").read_text("utf-8")
