"""An undo says which agents already had it, and their next brief, by the real interface, names it as withdrawn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.models import Decision, Fact
from projects import tenancy
from review.deciding import batches
from tests import factories
from tests.factories import Cast
from tests.memory.agent_client import AgentClient
from tests.review.test_batches import member
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
HER, HIM = "customer:cust_123", "customer:cust_9"


def told(cast: Cast, agent: str = "support", session: str = "s-1", about: str = HER) -> dict[str, Any]:
    """The next brief of that agent, as it receives it."""
    asked = {"session": session, "subjects": [about], "max_tokens": 500}
    answer = AgentClient(cast.keys[agent]).post("briefs", asked)
    assert answer.status == 200, answer.content
    return answer.json()


def waiting(cast: Cast, text: str = "Prefers e-mail.", **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.proposal(cast.project, text, now=timezone.now() - timedelta(minutes=5), **fields)


def decide(client: Client, cast: Cast, fact: Fact, verb: str, **form: Any) -> None:
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=fact.pk)
    body = {"verb": verb, "revision": fact.revision, "back": "fact", **form}
    assert client.post(f"/facts/{fact.short_id}/decisions", body).status_code == 302


def undone(client: Client, cast: Cast, fact: Fact) -> str:
    """The page after the undo of the newest decision about `fact`."""
    with tenancy.project(cast.project.pk):
        last = Decision.objects.filter(fact=fact).order_by("-pk")[0]
    answer = client.post(f"/decisions/{last.pk}/undo", {"back": "fact"})
    assert answer.status_code == 302, answer.content.decode()
    return client.get(answer["Location"]).content.decode()


def test_an_approval_taken_back_is_named_to_whoever_had_it(cast: Cast) -> None:
    fact, client = waiting(cast), signed_in(cast.rita)
    decide(client, cast, fact, "approve")
    for session in ("s-1", "s-2"):
        AgentClient(cast.keys["support"]).observe(session, {"kind": "message", "role": "user", "text": "Hello."})
        assert [item["id"] for item in told(cast, session=session)["items"]] == [fact.short_id]
    page = undone(client, cast, fact)
    assert "Served to 2 sessions of support at " in page
    assert "the next brief takes it back" in page
    for session in ("s-1", "s-2", "s-3"):
        brief = told(cast, session=session)
        assert (brief["retracted"], brief["items"]) == ([fact.short_id], [])
        assert f"[{fact.short_id}] Do not rely on it any more." in brief["text"]
    assert told(cast, "sales")["retracted"] == []
    decide(client, cast, fact, "approve")
    assert told(cast)["retracted"] == [], "it holds again"


def test_what_nobody_had_is_taken_back_without_a_word(cast: Cast) -> None:
    fact, client = waiting(cast), signed_in(cast.rita)
    decide(client, cast, fact, "approve")
    page = undone(client, cast, fact)
    assert "Undone" in page
    assert "Served to" not in page


def test_other_words_taken_back_are_told_where_the_right_ones_do_not_come(cast: Cast) -> None:
    fact, client = waiting(cast), signed_in(cast.rita)
    for session in ("s-1", "s-2"):
        AgentClient(cast.keys["support"]).observe(session, {"kind": "message", "role": "user", "text": "Hello."})
    decide(client, cast, fact, "approve")
    first = told(cast)["etag"]
    decide(client, cast, fact, "edit", text="Prefers the phone.")
    assert told(cast)["items"][0]["text"] == "Prefers the phone."
    told(cast, session="s-2")
    assert "Served to " in undone(client, cast, fact)
    brief = told(cast)
    assert [item["text"] for item in brief["items"]] == ["Prefers e-mail."], "the line itself says what holds"
    assert (brief["retracted"], brief["etag"]) == ([], first)
    elsewhere = told(cast, session="s-2", about=HIM)
    assert elsewhere["items"] == []
    assert elsewhere["retracted"] == [fact.short_id], "its last brief had other words, and these do not come"
    assert told(cast, session="s-2", about=HIM)["retracted"] == [], "it is not told for ever"


def test_an_edit_is_told_where_its_new_words_do_not_come(cast: Cast) -> None:
    fact, client = waiting(cast), signed_in(cast.rita)
    decide(client, cast, fact, "approve")
    told(cast)
    assert told(cast, about=HIM)["retracted"] == [], "what was told still holds"
    told(cast)
    decide(client, cast, fact, "edit", text="Prefers the phone.")
    assert told(cast, about=HIM)["retracted"] == [fact.short_id]


def test_readers_that_an_undo_takes_away_are_told(cast: Cast) -> None:
    fact = waiting(cast, everyone=False, agent_ids=[cast.support.pk])
    client = signed_in(cast.rita)
    decide(client, cast, fact, "approve")
    decide(client, cast, fact, "rescope", scope="everyone")
    assert told(cast, "sales")["items"]
    assert told(cast)["items"]
    page = undone(client, cast, fact)
    assert "Served to 1 session of sales at " in page
    assert "session of support" not in page, "support keeps it"
    assert told(cast, "sales")["retracted"] == [fact.short_id]
    assert told(cast)["retracted"] == []


def test_an_act_on_many_taken_back_names_each_of_them(cast: Cast) -> None:
    facts = [waiting(cast, f"Rule {n}.", key=f"fix:r.{n}") for n in range(3)]
    with tenancy.project(cast.project.pk):
        batches.approve_all(member(cast), [(fact.pk, fact.revision) for fact in facts], timezone.now())
    assert len(told(cast)["items"]) == 3
    assert "Served to 1 session of support at " in undone(signed_in(cast.rita), cast, facts[0])
    assert sorted(told(cast)["retracted"]) == sorted(fact.short_id for fact in facts)


def test_a_withdrawal_taken_back_leaves_no_note(cast: Cast) -> None:
    fact, client = waiting(cast), signed_in(cast.rita)
    decide(client, cast, fact, "approve")
    told(cast)
    decide(client, cast, fact, "remove")
    assert told(cast)["retracted"] == [fact.short_id]
    page = undone(client, cast, fact)
    assert "Served to" not in page, "what was told holds"
    assert told(cast)["retracted"] == []
    with tenancy.project(cast.project.pk):
        assert not fact.retractions.exists()
