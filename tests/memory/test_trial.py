"""Sessions played for a measure: what they put on a pile, and that nothing stays."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import routine_mix
from memory import trial
from memory.distillers.local import LocalDistiller
from memory.models import DistillJob, Fact, Session
from projects import tenancy

pytestmark = pytest.mark.django_db


def session(ident: str, *said: str, **more: Any) -> dict[str, Any]:
    lines = [
        {"i": index, "role": "user", "kind": "message", "text": text, "ts": f"2026-11-0{index + 1}T09:00:00Z"}
        for index, text in enumerate(said)
    ]
    return {"id": ident, "session": lines, **more}


def test_a_pile_holds_what_each_session_taught_once() -> None:
    sessions = [
        session("a", "From now on use uv instead of pip.", entity="c1"),
        session("b", "hello", entity="c2"),
        session("c", "I live in Porto.", entity="c3"),
        session("d", "I live in Porto.", entity="c3"),
    ]
    cards = trial.pile(sessions, LocalDistiller())
    assert [(card.session, card.text) for card in cards] == [
        ("a", "Use uv instead of pip."),
        ("c", "The customer lives in Porto."),
    ]
    assert cards[1].about == "customer:c3"
    assert cards[1].quotes == (("user", "", "I live in Porto.", ""),)
    with tenancy.system("command"):
        assert not Session.objects.exists()
        assert not Fact.objects.exists()


def test_captured_sessions_wait_for_their_reading() -> None:
    jobs = trial.captured([session("a", "Always use uv.", entity="c1")], LocalDistiller())
    with tenancy.system("command"):
        assert list(DistillJob.objects.filter(pk__in=jobs).values_list("status", flat=True)) == ["queued"]
        assert not Fact.objects.exists()


def test_the_mix_is_routine_for_the_most_part_and_stays_nearly_silent() -> None:
    sessions = routine_mix.mix()
    routine = [one for one in sessions if not one["teaches"]]
    assert len(routine) >= 100
    assert len(routine) / len(sessions) >= 0.8
    reader = LocalDistiller()
    found = [
        candidate.text
        for one in routine
        for candidate in reader.read(trial.seen_from_gold(one), timezone="UTC", now=routine_mix.START)
    ]
    assert 100 * len(found) / len(routine) <= 5, found
