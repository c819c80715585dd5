"""The environment: an empty value is the default, nonsense is a sentence, and neither ever shows what was set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import environment

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "COUNTERSIGN_TRIED"


@pytest.mark.parametrize("written", [None, "", "  "])
def test_what_is_empty_counts_as_not_set(written: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if written is not None:
        monkeypatch.setenv(NAME, written)
    assert environment.text(NAME, "default") == "default"
    assert environment.names(NAME, ["a", "b"]) == ["a", "b"]
    assert environment.whole(NAME, 3) == 3
    assert environment.is_on(NAME) is False
    assert environment.address(NAME) == ""
    assert environment.mail(NAME) == {}


def test_values_are_read_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " one.example, two.example,")
    assert environment.names(NAME, []) == ["one.example", "two.example"]
    monkeypatch.setenv(NAME, "2")
    assert environment.whole(NAME, 0) == 2
    for written, read in (("True", True), ("1", True), ("off", False), ("no", False)):
        monkeypatch.setenv(NAME, written)
        assert environment.is_on(NAME) is read
    monkeypatch.setenv(NAME, "https://desk.example/")
    assert environment.address(NAME) == "https://desk.example"
    monkeypatch.setenv(NAME, "smtp+tls://rita:pa55@mail.example:587")
    assert environment.mail(NAME)["EMAIL_HOST"] == "mail.example"


@pytest.mark.parametrize(
    ("name", "nonsense", "words"),
    [
        ("COUNTERSIGN_PROXIES", "many-pa55", "a whole number"),
        ("COUNTERSIGN_PROXIES", "-1", "a whole number"),
        ("COUNTERSIGN_DEBUG", "perhaps-pa55", "true or false"),
        ("COUNTERSIGN_PUBLIC_URL", "desk.example/pa55", "http:// or https://"),
        ("EMAIL_URL", "nonsense-pa55", "a mail server"),
        ("EMAIL_URL", "smpt://rita:pa55@mail.example", "a mail server"),
        ("EMAIL_URL", "smtp://rita:pa55@mail.example:port", "a mail server"),
        ("EMAIL_URL", "smtp://", "a mail server"),
    ],
)
def test_nonsense_is_one_sentence_that_names_the_variable(name: str, nonsense: str, words: str, tmp_path: Path) -> None:
    said = _command({name: nonsense, "COUNTERSIGN_DATA": str(tmp_path)}, "doctor")
    assert said.returncode == 1
    assert said.stderr.startswith(f"{name} must ")
    assert words in said.stderr
    assert said.stderr.count("\n") == 1
    assert "pa55" not in said.stderr + said.stdout


def _command(changed: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **changed},
        capture_output=True,
        text=True,
    )
