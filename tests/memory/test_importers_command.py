"""`manage.py import_sessions`: files in, sessions in the store, books on standard output."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from psycopg import errors

from memory import capture
from memory.models import Observation, Session
from projects import tenancy
from tests.factories import Cast
from tests.memory.importers import rollouts
from tests.memory.importers.lines import assistant, call, line, result, text, user, write

pytestmark = pytest.mark.django_db

TALK = [
    user("Run the tests.", uuid="u1"),
    assistant(call("t1", "Bash", command="make test"), uuid="u2"),
    result("t1", "Exit code 2\nrefused", is_error=True, uuid="u3"),
    b'{"type":"user","cut',
    line("progress"),
]


def run(*paths: Path | str, **options: Any) -> list[dict[str, Any]]:
    """One dictionary a file, as `--json` prints them."""
    out = StringIO()
    options = {"project": "shop", "agent": "claude-code", "json": True, **options}
    call_command("import_sessions", *map(str, paths), stdout=out, stderr=StringIO(), **options)
    return [json.loads(row) for row in out.getvalue().split("\n") if row]


def stored() -> list[tuple[str, str, str]]:
    with tenancy.system("command"):
        rows = Observation.objects.order_by("session_id", "seq", "pk")
        return list(rows.values_list("session__external_id", "kind", "text"))


def test_a_transcript_becomes_a_session_and_a_second_run_adds_nothing(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *TALK)
    (told,) = run(path)
    assert told["observations"] == 3
    assert told["sessions"] == 1
    assert told["skipped"] == {"type:progress": 1}
    assert told["errors"] == ["Line 4 is cut or is no JSON."]
    assert told["raw"]["records"] == 4
    assert told["books"] == {"records": 5, "readable": 4, "mapped": 3, "skipped": 1, "bad": 1, "balanced": True}
    first = stored()
    assert [kind for _, kind, _ in first] == ["message", "tool_call", "tool_result"]
    (again,) = run(path)
    assert (again["observations"], again["duplicates"]) == (0, 3)
    assert stored() == first


def test_a_session_is_about_its_repository_and_the_person_at_the_key(cast: Cast, tmp_path: Path) -> None:
    run(write(tmp_path / "a.jsonl", *TALK))
    run(write(tmp_path / "b.jsonl", user("x", sessionId="other", uuid="v1")), person="rita@example.com")
    with tenancy.system("command"):
        about = {
            session.external_id[:5]: sorted(str(subject) for subject in session.subjects.all())
            for session in Session.objects.all()
        }
        assert {session.source_format for session in Session.objects.all()} == {"claude_code"}
    assert about == {
        "5f0c1": ["person:olga@example.com", "repo:orders"],
        "other": ["person:rita@example.com", "repo:orders"],
    }


def test_lines_a_resumed_session_copied_are_stored_once(cast: Cast, tmp_path: Path) -> None:
    resumed = [{**record, "sessionId": "resumed"} for record in TALK[:3] if isinstance(record, dict)]
    first = write(tmp_path / "b.jsonl", *TALK)
    later = user("And the docs.", uuid="u9", sessionId="resumed", timestamp="2026-11-04T09:00:00Z")
    second = write(tmp_path / "a.jsonl", *resumed, later)
    told = run(tmp_path)
    assert [Path(row["path"]) for row in told] == [first, second]
    assert [row["observations"] for row in told] == [3, 1]
    assert told[1]["skipped"] == {"copied": 3}
    assert told[1]["books"]["balanced"]
    third = write(tmp_path / "c.jsonl", *[{**record, "sessionId": "again"} for record in resumed], text("odd"))
    (alone,) = run(third)
    assert alone["observations"] == 0
    assert alone["skipped"]["copied"] == 3


def test_a_dry_run_leaves_out_what_an_earlier_run_stored_under_another_session(cast: Cast, tmp_path: Path) -> None:
    run(write(tmp_path / "a.jsonl", *TALK))
    resumed = [{**record, "sessionId": "resumed"} for record in TALK[:3] if isinstance(record, dict)]
    (told,) = run(write(tmp_path / "b.jsonl", *resumed), dry_run=True)
    assert (told["observations"], told["sessions"], told["skipped"]) == (0, 0, {"copied": 3})
    assert told["books"]["balanced"]


def test_a_rollout_becomes_a_session_with_its_zone_and_a_longer_one_adds_what_is_new(
    cast: Cast, tmp_path: Path
) -> None:
    rollout = [
        rollouts.meta(git={"repository_url": "git@git.example:acme/orders-api.git"}),
        rollouts.row(1, "turn_context", {"timezone": "Europe/Berlin"}),
        rollouts.asked(2, "Fix the export."),
        rollouts.event(2, "user_message", message="Fix the export."),
        rollouts.call(3, "call_GfHib9GW3d5m9EB1wMTper0j", "shell", command=["bash", "-lc", "make export"]),
        rollouts.output(4, "call_GfHib9GW3d5m9EB1wMTper0j", "failed", exit_code=1),
    ]
    (told,) = run(write(tmp_path / "rollout.jsonl", *rollout))
    assert (told["format"], told["observations"], told["duplicates"], told["dropped"]) == ("codex", 3, 0, {})
    (told,) = run(write(tmp_path / "rollout.jsonl", *rollout, rollouts.told(5, "Done.")))
    assert (told["observations"], told["duplicates"]) == (1, 3)
    with tenancy.system("command"):
        session = Session.objects.get()
        assert (session.timezone, session.cwd) == ("Europe/Berlin", "/srv/orders")
        assert sorted(map(str, session.subjects.all())) == ["person:olga@example.com", "repo:acme/orders-api"]
        assert session.observations.get(kind="tool_result").exit_code == 1


def test_a_talk_one_turn_longer_adds_only_that_turn_whatever_its_file_is_called(cast: Cast, tmp_path: Path) -> None:
    asked, answered = {"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "5433."}
    again = {"role": "user", "content": "Which port?"}
    (told,) = run(write(tmp_path / "1.json", {"messages": [asked, answered]}))
    assert (told["format"], told["observations"]) == ("openai_chat", 2)
    (told,) = run(write(tmp_path / "2.json", {"messages": [asked, answered, again]}))
    assert (told["observations"], told["duplicates"]) == (1, 2)
    assert [text for _, _, text in stored()] == ["Which port?", "5433.", "Which port?"]


def test_two_talks_in_which_the_same_was_said_are_no_copies(cast: Cast, tmp_path: Path) -> None:
    talks = [[{"role": "user", "content": "hi"}, {"role": "assistant", "content": name}] for name in ("Hello.", "Hi.")]
    (told,) = run(write(tmp_path / "log.jsonl", *talks))
    assert (told["sessions"], told["observations"], told["skipped"]) == (2, 4, {})


def test_a_format_that_is_named_is_read_as_such(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path / "talk.jsonl", {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"})
    for name in ("jsonl", "openai_chat"):
        (told,) = run(path, format=name, dry_run=True)
        assert (told["format"], told["observations"]) == (name, 2)
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("import_sessions", str(path), "--project", "shop", "--agent", "claude-code", "--format", "odd")


def test_a_session_id_that_holds_a_secret_or_an_unseen_mark_is_hashed(cast: Cast, tmp_path: Path) -> None:
    for name in ("AKIAEXAMPLEEXAMPLE12", "a\u200bb"):
        (told,) = run(write(tmp_path / "a.jsonl", {"role": "user", "content": "x", "session": name}))
        assert told["observations"] == 1
    assert all(session.startswith("hashed-") for session, _, _ in stored())


def test_a_dry_run_counts_and_stores_nothing(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *TALK)
    (told,) = run(path, dry_run=True)
    assert told["observations"] == 3
    assert stored() == []
    run(path)
    (told,) = run(path, dry_run=True)
    assert (told["observations"], told["duplicates"]) == (0, 3)


def test_a_file_that_is_none_stops_no_other(cast: Cast, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", b"%PDF-1.7")
    write(tmp_path / "b.jsonl", *TALK)
    told = run(tmp_path)
    assert [row["observations"] for row in told] == [0, 3]
    assert "no transcript" in told[0]["errors"][0]
    with pytest.raises(CommandError, match="no transcript"):
        run(tmp_path / "a.jsonl", tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"project": "nowhere"}, "Make it with: manage.py create_project nowhere, or name another data folder"),
        ({"agent": "nobody"}, "has no agent nobody. Make it with: manage.py create_agent shop nobody"),
        ({"person": "ghost@example.com"}, "Nobody has the address ghost@example.com"),
    ],
)
def test_what_does_not_exist_is_named_with_the_command_that_makes_it(
    cast: Cast, tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CommandError) as problem:
        run(write(tmp_path / "a.jsonl", *TALK), **options)
    assert sentence in str(problem.value)
    assert stored() == []


def test_a_database_that_is_down_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tenancy, "system", refuse)
    with pytest.raises(CommandError, match=r"does not answer.*manage\.py doctor"):
        run(write(tmp_path / "a.jsonl", *TALK))


def test_a_disk_that_is_full_is_said_as_such(cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError("could not extend file") from errors.DiskFull("could not extend file")

    monkeypatch.setattr(capture, "import_session", refuse)
    with pytest.raises(CommandError, match="disk of the database is full"):
        run(write(tmp_path / "a.jsonl", *TALK))


def test_an_empty_path_is_not_the_folder_one_stands_in(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.jsonl", *TALK)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="A path is empty"):
        run("")
    assert stored() == []


def test_a_path_with_nothing_in_it_is_said_after_the_others_were_read(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *TALK)
    with pytest.raises(CommandError, match="does not exist"):
        run(path, tmp_path / "gone")
    assert len(stored()) == 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match=r"holds no \.jsonl file"):
        run(tmp_path / "empty")


def test_every_sample_is_stored_and_a_second_run_adds_nothing(cast: Cast, shared: Path) -> None:
    inputs = shared / "inputs"
    read = ("claude_code", "claude_code_variants", "codex", "hand_written", "openai_chat", "anthropic_messages")
    folders = [inputs / name for name in read]
    expected = json.loads((inputs / "EXPECTED_COUNTS.json").read_text())
    told = run(*folders)
    assert Counter(row["format"] for row in told) == {
        "claude_code": 13,
        "codex": 5,
        "openai_chat": 4,
        "anthropic_messages": 3,
    }
    for row in told:
        name = str(Path(row["path"]).relative_to(inputs))
        assert row["raw"] == expected.get(name, row["raw"])
        assert (name in expected) == (row["format"] in ("claude_code", "codex"))
        assert row["books"]["balanced"]
        assert not row["dropped"]
        assert not row["duplicates"]
    before = stored()
    assert len(before) == sum(row["observations"] for row in told)
    assert sum(row["observations"] for row in run(*folders)) == 0
    assert stored() == before


def test_hostile_content_is_stored_clean(cast: Cast, tmp_path: Path) -> None:
    nul = b'{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"a\\u0000b \\ud83d"},"x":NaN,"k\\u0000":1}'
    (told,) = run(write(tmp_path / "a.jsonl", nul))
    assert told["observations"] == 1
    ((_, _, said),) = stored()
    assert "\x00" not in said
    assert said.encode()


def test_the_name_of_a_file_is_printed_and_never_obeyed(cast: Cast, tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[31mred\n2 of 2 forged"
    folder.mkdir()
    write(folder / "a\u202e.jsonl", *TALK)
    (folder / "b\x1b]0;title\x07.jsonl").write_text("none\n")
    out, progress = StringIO(), StringIO()
    options = {"project": "shop", "agent": "claude-code"}
    call_command("import_sessions", str(tmp_path), stdout=out, stderr=progress, **options)
    printed = out.getvalue() + progress.getvalue()
    assert r"\x1b[31mred\n2 of 2 forged/a\u202e.jsonl: sessions 1" in printed
    assert r"b\x1b]0;title\x07.jsonl is no transcript" in printed
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    with pytest.raises(CommandError) as refusal:
        call_command("import_sessions", str(folder / "c\x1b[2J"), stdout=out, stderr=progress, **options)
    assert str(refusal.value).isprintable()
