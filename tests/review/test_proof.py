"""The proof under a memory: which turns are shown, what is marked, what is folded."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memory import short_ids
from memory.models import Evidence, Fact, Observation, Session, Subject, quote_hash
from memory.models.subject import split
from review.cards.proof import ON_CARD, Proof, proofs_of
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


def cite(fact: Fact, row: Observation, part: str, now: datetime) -> Evidence:
    start = row.text.index(part)
    return Evidence.objects.create(
        project_id=fact.project_id,
        fact=fact,
        observation=row,
        start=start,
        end=start + len(part),
        quote=part,
        sha256=quote_hash(part),
        checked_at=now,
    )


def ran(session: Session, command: str, printed: str, exit_code: int) -> tuple[Observation, Observation]:
    call: dict[str, Any] = {"tool": "Bash", "call_id": f"call-{session.observation_count}"}
    asked = factories.observation(session, command, kind="tool_call", role="assistant", **call)
    got = factories.observation(session, printed, kind="tool_result", role="tool", exit_code=exit_code, **call)
    return asked, got


def proofs(fact: Fact, most: int = ON_CARD) -> tuple[tuple[Proof, ...], int]:
    return proofs_of(list(fact.evidence.select_related("observation__session__agent").order_by("pk")), most)


def words(proof: Proof) -> list[tuple[str, str]]:
    """Each turn as `who` and its text, marks in brackets."""
    return [
        (turn.who, "".join(f"[{text}]" if mark == "mark" else text for mark, text in turn.pieces))
        for stretch in proof.stretches
        for turn in stretch.turns
    ]


@pytest.mark.parametrize(("subject", "asker"), [("customer:cust_7", "customer"), ("repo:acme/orders", "user")])
def test_a_quote_of_speech_stands_between_its_neighbours_and_tools_are_left_out(
    shop: Cast, now: datetime, subject: str, asker: str
) -> None:
    talk = factories.session(shop.support)
    about = Subject.objects.resolve(shop.project.pk, *split(subject))
    talk.subjects.add(about, through_defaults={"project_id": shop.project.pk})
    factories.observation(talk, "Hello.", role="assistant")
    ran(talk, "lookup order", "found", 0)
    said = factories.observation(talk, "Write to me, please.")
    factories.observation(talk, "Noted.", role="assistant")
    factories.observation(talk, "Bye.")
    fact = factories.proposal(shop.project)
    cite(fact, said, "Write to me", now)
    (proof,), more = proofs(fact)
    assert words(proof) == [("support", "Hello."), (asker, "[Write to me], please."), ("support", "Noted.")]
    assert (proof.is_seen, more) == (False, 0)


def test_the_quotes_of_one_session_are_one_proof_in_their_order(shop: Cast, now: datetime) -> None:
    talk = factories.session(shop.coder, cwd="/srv")
    asked, failed = ran(talk, "make test", "Exit code 2\nconnection refused\nmake: error", 2)
    fixed, _ = ran(talk, "PGPORT=5434 make test", "collecting\nrunning\n85 passed", 0)
    told = factories.observation(talk, "The port is 5434. All pass.", role="assistant")
    fact = factories.proposal(shop.project)
    for row, part in ((told, "The port is 5434."), (failed, "connection refused"), (fixed, "PGPORT=5434")):
        cite(fact, row, part, now)
    (proof,), _ = proofs(fact)
    assert words(proof) == [
        ("Bash", "make test"),
        ("result", "[connection refused]\nmake: error"),
        ("Bash", "[PGPORT=5434] make test"),
        ("result", "85 passed"),
        ("claude-code", "[The port is 5434.] All pass."),
    ]
    assert [stretch.face for stretch in proof.stretches] == ["terminal", "speech"]
    # How a command ended stands beside it, once.
    assert [turn.exit_code for turn in proof.stretches[0].turns] == [2, None, 0, None]
    assert proof.is_seen
    assert proof.anchor == short_ids.encode(failed.pk, "o")
    assert short_ids.encode(asked.pk, "o") != proof.anchor


def test_of_a_long_result_the_lines_round_the_quote_are_shown_and_the_rest_is_counted(
    shop: Cast, now: datetime
) -> None:
    lines = [f"line {number}" for number in range(100)]
    _, printed = ran(factories.session(shop.coder), "make", "\n".join(lines), 1)
    fact = factories.proposal(shop.project)
    cite(fact, printed, "line 50", now)
    (proof,), _ = proofs(fact)
    assert words(proof)[1] == ("result", "… 50 lines\n[line 50]\nline 51\n… 48 lines")


@pytest.mark.parametrize(
    ("text", "part", "shown"),
    [
        ("a" * 1000 + "QUOTE" + "b" * 1000, "QUOTE", "… " + "a" * 200 + "[QUOTE]" + "b" * 200 + " …"),
        ("q" * 1000, "q" * 1000, "[" + "q" * 400 + "] … 500 characters … [" + "q" * 100 + "]"),
        ("one\ntwo\n", "two", "one\n[two]"),
        ("两行\n第二行", "第二行", "两行\n[第二行]"),
    ],
)
def test_a_quote_is_whole_unless_it_is_endless(shop: Cast, now: datetime, text: str, part: str, shown: str) -> None:
    said = factories.observation(factories.session(shop.support), text)
    fact = factories.proposal(shop.project)
    cite(fact, said, part, now)
    (proof,), _ = proofs(fact)
    assert words(proof) == [("user", shown)]


def test_more_sessions_than_fit_are_counted(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    for number in range(5):
        cite(
            fact, factories.observation(factories.session(shop.support, f"call-{number}"), "Evenings."), "Evenings", now
        )
    shown, more = proofs(fact)
    assert ([proof.session.external_id for proof in shown if proof.session], more) == (["call-0", "call-1"], 3)


def test_a_quote_that_is_not_in_its_source_comes_first(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    rows = [factories.observation(factories.session(shop.support, f"call-{number}"), "Red.") for number in range(3)]
    for row in rows:
        cite(fact, row, "Red", now)
    Observation.objects.filter(pk=rows[2].pk).update(text="Green.")
    shown, more = proofs(fact)
    assert ([proof.verdict for proof in shown], more) == (["mismatch", "holds"], 1)
    assert words(shown[0]) == [("", "[Red]")]


def test_a_quote_outlives_its_source(shop: Cast, now: datetime) -> None:
    said = factories.observation(factories.session(shop.support), "Red.")
    fact = factories.proposal(shop.project)
    cite(fact, said, "Red", now)
    Evidence.objects.update(observation=None)
    (proof,), _ = proofs(fact)
    assert (proof.verdict, proof.session, words(proof)) == ("source gone", None, [("", "[Red]")])
