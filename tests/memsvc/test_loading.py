"""Reading settings strictly: an unknown name is an error that names the nearest known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsvc import Settings, SettingsError


def load(home: Path, text: str = "", **environ: str) -> Settings:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text, "utf-8")
    return Settings.load(home=str(home), environ=environ)


def load_refused(home: Path, text: str = "", **environ: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(home, text, **environ)
    assert caught.value.next_step
    return caught.value


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[window]\nmax_message = 5", "window.max_messages"),
        ("[windw]\nmax_messages = 5", "window"),
        ("durabilty = 'full'", "durability"),
        ("[semantic]\napikey = 'x'", "semantic.api_key"),
    ],
)
def test_an_unknown_name_in_the_file_names_the_nearest(
    tmp_path: Path, text: str, nearest: str
) -> None:
    error = load_refused(tmp_path, text)
    assert f"Did you mean {nearest}?" in error.next_step
    assert str(tmp_path / "config.toml") in error.what


def test_an_unknown_name_in_the_environment_names_the_nearest(tmp_path: Path) -> None:
    error = load_refused(tmp_path, MEMSVC_WINDOW__MAX_MESAGES="5")
    assert "Did you mean window.max_messages?" in error.next_step
    assert "MEMSVC_WINDOW__MAX_MESAGES" in error.what


def test_an_unknown_name_like_no_other_lists_what_is_known(tmp_path: Path) -> None:
    assert "max_messages" in load_refused(tmp_path, "[window]\nqqq = 1").next_step


def test_variables_of_others_are_passed_over(tmp_path: Path) -> None:
    assert load(tmp_path, PATH="/bin", MEMSVCX="1", MEMSVC_URL="http://localhost")


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ("home = '/elsewhere'", {}),
        ("window = 5", {}),
        ("durability = 'full'", {"MEMSVC_DURABILITY__X": "5"}),
        ("", {"MEMSVC_WINDOW": "5"}),
        ("", {"MEMSVC_WINDOW__MAX_MESSAGES__X": "5"}),
        ("", {"MEMSVC_": "5"}),
        ("", {"MEMSVC_HOME__X": "5"}),
        ("[window]\nmax_messages = 'many'", {}),
        ("[window]\nmax_messages = 0", {}),
        ("[window]\nmax_messages = 1.5", {}),
        ("[window]\nmax_messages = []", {}),
        ("durability = 'fulll'", {}),
        ("", {"MEMSVC_WINDOW__MAX_MESSAGES": "many"}),
        ("", {"MEMSVC_LIMITS__TIMEOUT": "nan"}),
        ("no toml", {}),
    ],
)
def test_what_does_not_fit_is_an_error_with_advice(
    tmp_path: Path, text: str, environ: dict[str, str]
) -> None:
    load_refused(tmp_path, text, **environ)


def test_the_home_in_the_file_is_refused_with_where_it_belongs(tmp_path: Path) -> None:
    assert "MEMSVC_HOME" in load_refused(tmp_path, "home = '/elsewhere'").next_step


def test_a_check_that_fails_while_loading_gives_its_own_advice(tmp_path: Path) -> None:
    error = load_refused(tmp_path, "[semantic]\nembedder = 'openai'")
    assert "MEMSVC_SEMANTIC__BASE_URL" in error.next_step


def test_a_file_that_is_not_text_or_no_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"config\.toml"):
        Settings.load(str(tmp_path), {})
    path.unlink()
    path.mkdir()
    with pytest.raises(SettingsError, match=r"config\.toml"):
        Settings.load(str(tmp_path), {})
