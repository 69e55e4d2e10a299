"""Settings: environment above file, unknown keys and wrong values named."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.errors import SettingsRejected
from server.settings import load_settings


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "proofweave.toml"
    file.write_text("[server]\nport = 9\n[limits]\nanswers = 3\n")
    monkeypatch.setenv("PROOFWEAVE_LIMITS__ANSWERS", "5")
    settings = load_settings(file)
    assert (settings.server.port, settings.limits.answers) == (9, 5)


def test_the_file_of_the_directory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "proofweave.toml").write_text("[server]\nport = 9\n")
    monkeypatch.chdir(tmp_path)
    assert load_settings().server.port == 9


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server]\nprot = 1\n", "server.prot"),
        ("[sever]\nport = 1\n", "sever"),
        ("[server]\nport = 'x'\n", "server.port"),
        ("[server]\nport = 70000\n", "server.port"),
        ("[server\n", "TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "proofweave.toml"
    file.write_text(text)
    with pytest.raises(SettingsRejected, match=named):
        load_settings(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsRejected, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")
