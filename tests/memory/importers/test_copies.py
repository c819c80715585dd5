from __future__ import annotations

from pathlib import Path
from typing import Any

from memory.importers import read_file
from memory.importers.copies import Copies
from memory.transcript import ReadResult
from tests.memory.importers.lines import assistant, call, observations, text, user, write


def session(name: str, *extra: Any) -> list[Any]:
    """A talk whose first two lines every resumed copy repeats under its own session id."""
    return [
        user("use port 5433", uuid="u1", sessionId=name),
        assistant(text("Done."), call("t", "Bash", command="ls"), uuid="u2", sessionId=name),
        *extra,
    ]


def both(tmp_path: Path, copies: Copies) -> tuple[ReadResult, ReadResult]:
    first = read_file(write(tmp_path / "1.jsonl", *session("one")))
    second = read_file(write(tmp_path / "2.jsonl", *session("two", user("and the docs", uuid="u3", sessionId="two"))))
    copies.leave_out(first)
    copies.leave_out(second)
    return first, second


def test_lines_a_resumed_session_copied_are_left_out_of_it(tmp_path: Path) -> None:
    first, second = both(tmp_path, Copies())
    assert len(observations(first)) == 3
    assert [one.text for one in observations(second)] == ["and the docs"]
    assert second.skipped == {"copied": 2}
    assert second.books()["balanced"]


def test_the_same_file_again_is_no_copy_of_itself(tmp_path: Path) -> None:
    copies = Copies()
    path = write(tmp_path / "1.jsonl", *session("one"))
    for _ in range(2):
        outcome = read_file(path)
        copies.leave_out(outcome)
        assert len(observations(outcome)) == 3


def test_a_short_id_shared_by_chance_hides_nothing(tmp_path: Path) -> None:
    one = read_file(write(tmp_path / "1.jsonl", user("a", uuid="u1", sessionId="one")))
    other = read_file(
        write(tmp_path / "2.jsonl", user("b", uuid="u1", sessionId="two", timestamp="2026-11-04T08:00:00Z"))
    )
    copies = Copies()
    copies.leave_out(one)
    copies.leave_out(other)
    assert other.skipped == {}


def test_lines_without_id_and_time_are_never_taken_for_copies(tmp_path: Path) -> None:
    copies = Copies()
    for name in ("one", "two"):
        line = {"type": "user", "sessionId": name, "message": {"content": "yes"}}
        outcome = read_file(write(tmp_path / f"{name}.jsonl", line))
        copies.leave_out(outcome)
        assert len(observations(outcome)) == 1
