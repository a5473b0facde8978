"""Settings: defaults that work, values that are checked, and which source goes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memsvc import Settings, SettingsError
from memsvc.settings import Limits, Semantic, Window


def refused(**values: Any) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        Settings(**values)
    assert caught.value.next_step
    return caught.value


def load(home: Path, text: str = "", **environ: str) -> Settings:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text, "utf-8")
    return Settings.load(home=str(home), environ=environ)


def test_the_defaults_are_those_of_the_specification() -> None:
    settings = Settings()
    assert settings.durability == "full"
    assert settings.window.max_messages == 16
    assert settings.history.max_bytes == 4 * 1024 * 1024
    assert settings.limits.max_message_bytes == 1024 * 1024
    assert settings.limits.max_batch == 1000
    assert not settings.strip_prefixes
    assert settings.semantic.embedder == "builtin"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().durability = "normal"  # type: ignore[misc]


def test_the_home_is_an_absolute_path_whatever_it_was_given_as(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings(home="memory").home_path == tmp_path / "memory"
    assert Settings(home=tmp_path / "memory").home_path == tmp_path / "memory"  # type: ignore[arg-type]
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings(home="~/memory").home_path == tmp_path / "memory"
    assert Settings().home_path.is_absolute()


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"limits": Limits(max_batch=0)}, "limits.max_batch"),
        ({"limits": Limits(timeout=0.0)}, "limits.timeout"),
        ({"limits": Limits(timeout=float("inf"))}, "limits.timeout"),
        ({"limits": Limits(timeout=float("nan"))}, "limits.timeout"),
        ({"window": Window(max_messages=-1)}, "window.max_messages"),
        ({"semantic": Semantic(dimensions=-1)}, "semantic.dimensions"),
        ({"semantic": Semantic(embedder="opneai")}, "semantic.embedder"),  # type: ignore[arg-type]
        ({"window": Window(max_messages="16")}, "window.max_messages"),  # type: ignore[arg-type]
        ({"window": Window(max_messages=True)}, "window.max_messages"),
        ({"window": {"max_messages": 5}}, "window"),
        ({"durability": "fulll"}, "durability"),
        ({"strip_prefixes": "yes"}, "strip_prefixes"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name(values: Any, name: str) -> None:
    assert name in str(refused(**values))


def test_no_dimensions_and_whole_seconds_are_in_range() -> None:
    assert Settings(semantic=Semantic(dimensions=0, timeout=5)).semantic.timeout == 5


def test_two_values_that_do_not_fit_each_other_are_refused() -> None:
    small = Limits(max_batch_bytes=10)
    assert "limits.max_batch_bytes" in str(refused(limits=small))
    assert "semantic.base_url" in str(refused(semantic=Semantic(embedder="openai")))


def test_a_key_is_never_printed() -> None:
    settings = Settings(semantic=Semantic(api_key="sk-secret", model="m3"))
    for shown in (repr(settings), str(settings), f"{settings.semantic}"):
        assert "sk-secret" not in shown
        assert "m3" in shown
    assert settings.semantic.api_key == "sk-secret"


def test_a_file_that_is_missing_means_the_defaults(tmp_path: Path) -> None:
    assert Settings.load(str(tmp_path), {}) == Settings(home=str(tmp_path))


def test_the_file_is_overruled_by_the_environment(tmp_path: Path) -> None:
    text = 'durability = "normal"\n[window]\nmax_messages = 5\n[limits]\ntimeout = 2\n'
    assert load(tmp_path, text).window.max_messages == 5
    settings = load(tmp_path, text, MEMSVC_WINDOW__MAX_MESSAGES="7", MEMSVC_STRIP_PREFIXES="true")
    assert settings.window.max_messages == 7
    assert settings.strip_prefixes
    assert settings.durability == "normal"
    assert settings.limits.timeout == 2.0


def test_the_home_is_the_argument_then_the_environment(tmp_path: Path) -> None:
    environ = {"MEMSVC_HOME": str(tmp_path / "b")}
    assert Settings.load(str(tmp_path / "a"), environ).home_path == tmp_path / "a"
    assert Settings.load(None, environ).home_path == tmp_path / "b"
    assert Settings.load(None, {}).home_path == Settings().home_path


def test_the_file_is_the_one_of_the_home_that_was_chosen(tmp_path: Path) -> None:
    load(tmp_path, "[window]\nmax_messages = 5")
    assert Settings.load(None, {"MEMSVC_HOME": str(tmp_path)}).window.max_messages == 5
