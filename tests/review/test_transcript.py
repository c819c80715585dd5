"""One transcript: a window round the place asked for, what is cut off, code points, and words that are remembered."""

from __future__ import annotations

import pytest
from django.test import Client

from memory import short_ids
from memory.models import Evidence, Fact, Observation, Session, quote_hash
from projects import tenancy
from review.cards.talk import SHOWN_CHARACTERS, points
from review.deciding.remembering import mark
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(cast: Cast) -> Session:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, "call-88213")
        session.session_subjects.create(project=cast.project, subject=factories.subject(cast.project))
        factories.observation(session, "How should I reach you?", role="assistant")
        factories.observation(session, "Write to me,\n  mornings are best.\u200b I do not pick up unknown numbers.")
        factories.observation(session, "Noted.", role="assistant")
    return session


def turn(session: Session, seq: int) -> Observation:
    with tenancy.project(session.project_id):
        return session.observations.get(seq=seq)


def short(row: Observation) -> str:
    return short_ids.encode(row.pk, "o")


def address(session: Session, rest: str = "") -> str:
    return f"/sessions/{short_ids.encode(session.pk, 's')}{rest}"


def signed_in(client: Client, person) -> Client:  # type: ignore[no-untyped-def]
    client.force_login(person)
    return client


# A long session ------------------------------------------------------------------------------------------------------


@pytest.fixture
def long_talk(cast: Cast) -> Session:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.coder, "long")
        first = factories.observation(session, "Turn 1.")
        Observation.objects.bulk_create(
            Observation(
                project=cast.project,
                session=session,
                seq=seq,
                kind="message",
                role="user" if seq % 2 else "assistant",
                text=f"Turn {seq}.",
                original_length=10,
                occurred_at=first.occurred_at,
                occurred_source="server",
                received_at=first.received_at,
            )
            for seq in range(2, 5001)
        )
    return session


def test_five_thousand_turns_are_a_window_with_more_both_ways(client: Client, cast: Cast, long_talk: Session) -> None:
    asked = turn(long_talk, 3000)
    page = signed_in(client, cast.rita).get(address(long_talk, f"?at={short(asked)}")).content.decode()
    assert f'id="{short(asked)}"' in page
    assert page.count('class="say') == 200
    assert "2959 earlier turns" in page
    assert "1841 later turns" in page
    assert "?from=3160" in page


def test_a_window_costs_the_same_however_long_the_session_is(
    client: Client, cast: Cast, talk: Session, long_talk: Session, django_assert_max_num_queries
) -> None:  # type: ignore[no-untyped-def]
    with tenancy.project(cast.project.pk):
        for seq in range(2900, 2950):
            row = long_talk.observations.get(seq=seq)
            factories.proposal(cast.project, f"Fact {seq}.", key=f"note:k{seq}", quote=row)
    signed_in(client, cast.rita)
    with django_assert_max_num_queries(32):
        page = client.get(address(long_talk)).content.decode()
    assert page.count("<mark>") == 50


def test_a_long_text_is_cut_after_its_quote_and_shown_whole_when_asked(client: Client, cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.coder, "wide")
        long = factories.observation(session, "x" * SHOWN_CHARACTERS + " the middle " + "y" * 5000 + " the end")
        fact = factories.proposal(cast.project, "A quote far down.", key="note:far")
        start = long.text.index("the middle")
        quote = "the middle"
        Evidence.objects.create(
            project=cast.project,
            fact=fact,
            observation=long,
            start=start,
            end=start + len(quote),
            quote=quote,
            sha256=quote_hash(quote),
            checked_at=long.received_at,
        )
    page = signed_in(client, cast.rita).get(address(session)).content.decode()
    assert "the middle<a" in page.replace("<mark>", "").replace("</mark>", "")
    assert "the end" not in page
    assert "more characters" in page
    assert "the end" in client.get(address(session, f"?whole={short(long)}")).content.decode()


@pytest.mark.parametrize("odd", ["at=o-zzzz", "at=1", "from=-1", "from=99999999999", "from=x", "whole=f-2k81hd"])
def test_an_odd_address_shows_the_beginning_or_nothing(client: Client, cast: Cast, talk: Session, odd: str) -> None:
    assert signed_in(client, cast.rita).get(address(talk, f"?{odd}")).status_code == 200


def test_code_points_are_shown_on_demand(client: Client, cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, "letters")
        factories.observation(session, "Z\u00fcrich \U000e0041")
    signed_in(client, cast.rita)
    assert "U+00FC" not in client.get(address(session)).content.decode()
    page = client.get(address(session, "?points=1")).content.decode()
    assert "U+00FC \u00fc" in page
    assert "U+E0041 tag A" in page


def test_points_leave_every_other_character_where_it_was() -> None:
    text = "Z\u00fcrich, 5 \u20ac\nline\u202e"
    assert [mark for mark, _ in points(text)] == ["same", "hidden", "same", "hidden", "same", "hidden"]
    assert points("plain text\n") == [("same", "plain text\n")]


# Remember this -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("mornings are best.", "mornings are best."),
        ("Write to me, mornings are best. I do", "Write to me,\n  mornings are best.\u200b I do"),
        ("  Write to me, ", "Write to me,"),
        ("best. I", "best.\u200b I"),
        ("evenings", None),
        ("", None),
        (" \n", None),
    ],
)
def test_marked_words_are_found_as_they_stand(talk: Session, words: str, quote: str | None) -> None:
    found = mark(turn(talk, 2), words)
    assert (found.quote if found else None) == quote


def test_marked_words_become_a_memory_with_its_quote(client: Client, cast: Cast, talk: Session) -> None:
    said = turn(talk, 2)
    signed_in(client, cast.rita)
    page = client.post(address(talk, "/remember"), {"o": short(said), "words": "mornings are best."}).content.decode()
    assert 'value="customer:cust_123"' in page
    answer = client.post(
        address(talk, "/remember"),
        {
            "o": short(said),
            "quote": "mornings are best.",
            "text": "Reach them in the morning.",
            "subject": "customer:cust_123",
            "type": "customer_fact",
        },
    )
    assert answer.status_code == 302
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(text="Reach them in the morning.")
        evidence = Evidence.objects.get(fact=fact)
        assert (fact.status, fact.approved_by_id, evidence.verdict()) == ("approved", cast.rita.pk, "holds")
        assert (evidence.quote, evidence.before, evidence.after) == (
            "mornings are best.",
            "How should I reach you?",
            "Noted.",
        )


def test_words_that_do_not_stand_there_are_refused_and_nothing_typed_is_lost(
    client: Client, cast: Cast, talk: Session
) -> None:
    form = {"o": short(turn(talk, 2)), "quote": "evenings", "text": "Reach them at night.", "type": "customer_fact"}
    answer = signed_in(client, cast.rita).post(address(talk, "/remember"), form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "do not stand in that turn" in page
    assert "Reach them at night." in page
    with tenancy.project(cast.project.pk):
        assert not Fact.objects.exists()


def test_a_viewer_proposes_and_a_reviewer_decides(client: Client, cast: Cast, talk: Session) -> None:
    said = turn(talk, 2)
    form = {"o": short(said), "quote": said.text, "text": "Reach them in the morning.", "type": "customer_fact"}
    answer = signed_in(client, cast.vera).post(address(talk, "/remember"), form, follow=True)
    assert "A reviewer decides" in answer.content.decode()
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get()
        assert (fact.status, fact.proposed_by_id, fact.approved_by_id) == ("proposed", cast.vera.pk, None)


def test_only_a_turn_of_this_session_that_says_something_can_be_remembered(
    client: Client, cast: Cast, talk: Session
) -> None:
    with tenancy.project(cast.project.pk):
        other = factories.observation(factories.session(cast.sales, "other"), "Elsewhere.")
        told = factories.observation(talk, "# What is known", kind="brief", role="system")
    signed_in(client, cast.rita)
    for row in (other, told):
        assert client.get(address(talk, f"/remember?o={short(row)}")).status_code == 404
    assert client.get(address(talk, "/remember?o=1")).status_code == 404
    page = client.get(address(talk, f"/remember?o={short(turn(talk, 2))}")).content.decode()
    assert "I do not pick up unknown numbers." in page
    client.force_login(cast.sam)
    assert client.get(address(talk, f"/remember?o={short(turn(talk, 2))}")).status_code == 404
