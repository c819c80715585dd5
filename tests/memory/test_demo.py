from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from stdnum import luhn

from memory.demo import TRANSCRIPTS, DemoSession, sessions
from memory.importers import claude_code, detect
from memory.importers.reading import Source

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo() -> list[DemoSession]:
    return sessions(NOW)


def said(demo: list[DemoSession], external_id: str) -> str:
    (one,) = [session for session in demo if session.external_id == external_id]
    return "\n".join(found.text for found in one.incoming.observations)


def test_every_file_is_listed_once_and_ids_differ(demo: list[DemoSession]) -> None:
    assert len(demo) == len(list(TRANSCRIPTS.glob("*.jsonl"))) == 15
    assert len({session.external_id for session in demo}) == 15
    assert Counter(session.agent for session in demo) == {"claude-code": 7, "support": 6, "sales": 2}


def test_coding_transcripts_are_read_whole(demo: list[DemoSession]) -> None:
    paths = [path for path in TRANSCRIPTS.glob("*.jsonl") if detect(path) == "claude_code"]
    assert len(paths) == 7
    for path in paths:
        outcome = claude_code.read(Source.of(path))
        assert outcome.books()["balanced"]
        assert outcome.bad == 0
        assert set(outcome.skipped) <= {"type:custom-title", "type:file-history-snapshot"}
        assert outcome.sessions[0].title


def test_the_talks_always_look_fresh(demo: list[DemoSession]) -> None:
    times = [one.occurred_at for session in demo for one in session.incoming.observations]
    assert all(at is not None and at < NOW - timedelta(minutes=30) for at in times)
    later = sessions(NOW + timedelta(days=400))
    assert [one.external_id for one in later] == [one.external_id for one in demo]
    assert "due by 2026-12-01" in said(demo, "refund-asked-again")
    assert "in your account by 2026-12-01" in said(demo, "refund-promised")
    assert "{{date" not in repr(demo)


def test_ids_are_unique_in_their_session_and_do_not_move(demo: list[DemoSession]) -> None:
    for now, then in zip(demo, sessions(NOW + timedelta(days=3)), strict=True):
        ids = [one.id for one in now.incoming.observations]
        assert len(set(ids)) == len(ids)
        assert ids == [one.id for one in then.incoming.observations]


def test_the_demo_holds_what_it_is_to_show(demo: list[DemoSession]) -> None:
    ports = [session for session in demo if "PGPORT=5433 make test" in repr(session.incoming.observations)]
    assert len(ports) == 3  # a lesson, the same one again, and the session that contradicts it
    assert luhn.is_valid("4111111111111111")
    assert "4111 1111 1111 1111" in said(demo, "broken-lid")
    assert "nils.brandt@example.com" in said(demo, "refund-promised")
    assert "Until 2026-10-28" in said(demo, "sister-address")  # over, for it was said 40 days ago
    assert "Leeds to Bristol" in said(demo, "warehouse-moved")
