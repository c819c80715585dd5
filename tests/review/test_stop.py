"""A memory's page as the place to stop it: who gets it, who got it, out of service, and all else from its source."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory import brief, short_ids, why_not
from memory.models import Evidence, Fact, Feedback, Retraction, Session, Status, quote_hash
from projects import tenancy
from projects.models import Agent, AuditEvent
from review.cards.reach import reach, words
from review.finding.origins import origins_of
from tests import factories
from tests.factories import Cast
from tests.memory.agent_client import AgentClient
from tests.review.test_desk import HTMX, again, signed_in

pytestmark = pytest.mark.django_db


def known(cast: Cast, text: str, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.approved(cast.project, cast.rita, text, **fields)


def told(cast: Cast, agent: Agent, now: datetime, session: str | None = None) -> None:
    with tenancy.project(cast.project.pk):
        brief.serve(agent, session=session, subjects=[("customer", "cust_123")], max_tokens=500, now=now)


def page_of(cast: Cast, fact: Fact, query: str = "", who: str = "rita") -> str:
    answer = signed_in(getattr(cast, who)).get(f"/facts/{fact.short_id}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


# Who gets it, who got it ---------------------------------------------------------------------------------------------


def test_who_gets_it_says_what_visibility_says(shop: Cast, now: datetime) -> None:
    """Every gate, against the query that agents are served by."""
    factories.approved(
        shop.project, shop.rita, "Mornings.", key="user_preference:time", everyone=False, agent_ids=[shop.sales.pk]
    )
    plain = factories.approved(shop.project, shop.rita, "Evenings.", key="user_preference:time")
    mine = factories.approved(
        shop.project, shop.rita, "For support.", key="choice:a", everyone=False, agent_ids=[shop.support.pk]
    )
    over = factories.approved(shop.project, shop.rita, "Over.", key="choice:b")
    Fact.objects.filter(pk=over.pk).update(expires_at=now)
    cold = factories.approved(shop.project, shop.rita, "Cold.", key="choice:c", about="customer:frozen")
    type(cold.subject).objects.filter(pk=cold.subject_id).update(frozen_at=now)
    waits = factories.proposal(shop.project, "Waits.", key="choice:d")
    Agent.objects.get(pk=shop.coder.pk).pause(now, shop.rita)
    facts = list(Fact.objects.select_related("subject", "project"))
    assert {fact.pk for fact in facts} >= {plain.pk, mine.pk, over.pk, cold.pk, waits.pk}
    agents = list(shop.project.agents.all())
    reasons = set()
    for fact in facts:
        for row in reach(fact, agents, "everyone", now):
            visible = Fact.objects.visible_to(row.agent, now).filter(pk=fact.pk).exists()
            assert row.gets_it == visible, (fact.text, row)
            reasons.add(row.because)
    for reason in ("It goes to other agents only", "It has expired", "Its briefs are paused", "It is proposed"):
        assert reason in reasons
    assert "Its subject is frozen while a privacy request runs" in reasons
    assert "It has a value of its own for this" in reasons


def test_who_gets_it_and_why_not_name_the_same_gate(shop: Cast, now: datetime) -> None:
    """For every state a memory may have, and every agent: the page of a memory and that of a brief say one thing."""
    every = {status: factories.proposal(shop.project, f"{status}.", key=f"choice:{status}") for status in Status.values}
    for status, fact in every.items():
        Fact.objects.filter(pk=fact.pk).update(status=status)
    over = factories.approved(shop.project, shop.rita, "Over.", key="choice:over")
    Fact.objects.filter(pk=over.pk).update(expires_at=now)
    factories.approved(shop.project, shop.rita, "One.", key="choice:one", everyone=False, agent_ids=[shop.sales.pk])
    factories.approved(
        shop.project, shop.rita, "Theirs.", key="user_preference:t", everyone=False, agent_ids=[shop.sales.pk]
    )
    factories.approved(shop.project, shop.rita, "All.", key="user_preference:t")
    Agent.objects.get(pk=shop.coder.pk).pause(now, shop.rita)
    facts = list(Fact.objects.select_related("subject", "project"))
    seen = set()
    for agent in shop.project.agents.select_related("project"):
        built = brief.build(agent, subjects=[("customer", "cust_123")], max_tokens=4000, now=now)
        for verdict in why_not.why_not(facts, agent, built, now=now):
            (row,) = reach(verdict.fact, [agent], "everyone", now)
            assert row.gets_it == (verdict.gate == why_not.Gate.CAME), (verdict.fact.text, agent.slug)
            if not row.gets_it:
                assert row.because == words(verdict.gate, verdict.fact, agent)
            seen.add(verdict.gate)
    beyond = {why_not.Gate.FROZEN, why_not.Gate.OTHER_SUBJECT, why_not.Gate.BEHIND}
    assert seen == set(why_not.Gate) - beyond - {why_not.Gate.BELOW_FLOOR, why_not.Gate.NO_ROOM}


def test_who_got_it_says_which_sessions_are_open_and_what_came_of_it(cast: Cast, now: datetime) -> None:
    fact = known(cast, "Prefers e-mail.")
    with tenancy.project(cast.project.pk):
        factories.session(cast.support, "chat-1", now=now)
        factories.session(cast.sales, "chat-2", now=now, status="distilled")
    told(cast, cast.support, now - timedelta(minutes=9), "chat-1")
    told(cast, cast.sales, now - timedelta(minutes=8), "chat-2")
    told(cast, cast.support, now - timedelta(minutes=7))
    with tenancy.project(cast.project.pk):
        for agent, verdict in ((cast.sales, "misled"), (cast.support, "helped")):
            Feedback.objects.create(
                project=cast.project, fact=fact, agent=agent, verdict=verdict, said_on=now.date(), at=now
            )
        fact.count_help()
    page = page_of(cast, fact)
    assert "In 3 briefs, used in 1." in page
    assert "1 session is open with it." in page
    assert re.search(r"chat-1</bdi></a>, open", page)
    assert not re.search(r"chat-2</bdi></a>, open", page)
    assert page.count("it misled") == 1
    assert page.count("it helped") == 1
    assert "not yet known" in page
    assert '<span>Complaints</span><span class="amber">1</span>' in page
    assert "The open session is told to drop it." in page


# Out of service ------------------------------------------------------------------------------------------------------


def test_x_and_a_digit_take_it_out_and_the_next_brief_says_so(cast: Cast, now: datetime) -> None:
    fact = known(cast, "Prefers e-mail.")
    agent = AgentClient(cast.keys["support"])
    asked = {"subjects": ["customer:cust_123"], "max_tokens": 500}
    assert agent.post("briefs", asked).json()["items"]
    client = signed_in(cast.rita)
    panel = client.get(f"/facts/{fact.short_id}?panel=withdraw", headers=HTMX).content.decode()
    assert panel.startswith('<div id="fact-panel"><form class="acts"')
    assert panel.count("data-key=") == 11
    answer = client.post(
        f"/facts/{fact.short_id}/decisions",
        {"verb": "remove", "back": "fact", "revision": fact.revision, "reason": "dated"},
    )
    assert answer["Location"].startswith(f"/facts/{fact.short_id}")
    found = agent.post("briefs", asked).json()
    assert (found["items"], found["retracted"]) == ([], [fact.short_id])
    page = page_of(cast, fact)
    assert "Withdrawn by Rita" in page
    assert "Out of date soon" in page
    assert "It is withdrawn" in page


def test_without_javascript_the_reasons_come_with_the_page(cast: Cast) -> None:
    fact = known(cast, "Prefers e-mail.")
    page = page_of(cast, fact, "?panel=withdraw")
    assert page.count('name="reason"') == 10
    assert 'name="reason"' not in page_of(cast, fact)
    assert 'name="reason"' not in page_of(cast, fact, "?panel=withdraw", "vera")
    paused = page_of(cast, fact, "?panel=pause")
    assert 'action="/p/shop/pause"' in paused
    assert "Briefs to support" in paused
    assert "Briefs to support" not in page_of(cast, fact, "?panel=pause", "vera")


def test_a_proposal_is_rejected_there_with_a_reason(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project, "Prefers fax.", agent=cast.support)
    page = page_of(cast, fact, "?panel=withdraw")
    assert '<input type="hidden" name="verb" value="reject">' in page
    signed_in(cast.rita).post(
        f"/facts/{fact.short_id}/decisions",
        {"verb": "reject", "back": "fact", "revision": fact.revision, "reason": "vague"},
    )
    assert again(cast, fact).status == Status.REJECTED


def test_briefs_are_paused_from_there_and_one_comes_back_there(cast: Cast) -> None:
    fact = known(cast, "Prefers e-mail.")
    here = f"/facts/{fact.short_id}"
    answer = signed_in(cast.rita).post("/p/shop/agents/support/pause", {"next": here})
    assert answer["Location"] == here
    assert "Its briefs are paused" in page_of(cast, fact)


# From the same place -------------------------------------------------------------------------------------------------


def learned(
    cast: Cast, session: Session, text: str, key: str, said: str = "", live: bool = True, **fields: Any
) -> Fact:
    row = factories.observation(session, said or f"I said: {text}", **fields)
    fact = factories.proposal(cast.project, text, key=key, agent=session.agent, quote=row)
    if live:
        fact.approve(cast.rita, revision=fact.revision, now=fact.first_seen_at)
    return fact


@pytest.fixture
def lot(cast: Cast, now: datetime) -> list[Fact]:
    """Two live and one waiting from one session, one refused there, one from another session."""
    with tenancy.project(cast.project.pk):
        here, there = (
            factories.session(cast.support, "call-1", now=now),
            factories.session(cast.support, "call-2", now=now),
        )
        found = [
            learned(cast, here, "Prefers e-mail.", "choice:a"),
            learned(cast, here, "Pays late.", "choice:b"),
            learned(cast, here, "Likes tea.", "choice:c", live=False),
            learned(cast, here, "Hates tea.", "choice:d", live=False),
            learned(cast, there, "Lives in Berlin.", "choice:e"),
        ]
        found[3].reject(cast.rita, revision=found[3].revision, now=now, reason="not_true")
    return found


def origin_address(fact: Fact, name: str) -> str:
    return f"/facts/{fact.short_id}/origin?from={name}"


def session_name(cast: Cast, external_id: str) -> str:
    with tenancy.project(cast.project.pk):
        return f"session:{short_ids.encode(Session.objects.get(external_id=external_id).pk, 's')}"


def test_all_from_one_session_goes_in_one_act_and_comes_back_with_one_undo(
    cast: Cast, lot: list[Fact], now: datetime
) -> None:
    told(cast, cast.support, now)
    page = page_of(cast, lot[0])
    assert "From the same session" in page
    assert "Lives in Berlin." not in page
    client, address = signed_in(cast.rita), origin_address(lot[0], session_name(cast, "call-1"))
    shown = client.get(address).content.decode()
    assert "2 are in memory: they are withdrawn" in shown
    assert "1 waits: it is rejected." in shown
    ticks = re.findall(r'name="tick" value="([^"]+)" checked', shown)
    assert len(ticks) == 3
    with tenancy.project(cast.project.pk):
        before = list(Fact.objects.order_by("pk").values("pk", "status", "text", "everyone", "agent_ids", "expires_at"))
    answer = client.post(address, {"tick": ticks, "reason": "not_true"}, follow=True)
    assert "2 withdrawn, 1 rejected." in answer.content.decode()
    assert [again(cast, fact).status for fact in lot] == ["removed", "removed", "rejected", "rejected", "approved"]
    with tenancy.project(cast.project.pk):
        assert set(Retraction.objects.values_list("fact", flat=True)) == {lot[0].pk, lot[1].pk}
        assert AuditEvent.objects.filter(action="fact.remove_many", count=3).count() == 1
    undo = re.search(r'class="done-line" method="post" action="([^"]+)"', answer.content.decode())
    assert undo
    client.post(undo[1], {"back": "decided"})
    with tenancy.project(cast.project.pk):
        after = list(Fact.objects.order_by("pk").values("pk", "status", "text", "everyone", "agent_ids", "expires_at"))
        assert after == before
        assert not Retraction.objects.exists()


def test_what_is_unticked_stays_and_what_changed_since_is_named(cast: Cast, lot: list[Fact], now: datetime) -> None:
    client, address = signed_in(cast.rita), origin_address(lot[0], session_name(cast, "call-1"))
    ticks = re.findall(r'name="tick" value="([^"]+)" checked', client.get(address).content.decode())
    with tenancy.project(cast.project.pk):
        other = Fact.objects.get(pk=lot[1].pk)
        other.edit(cast.olga, revision=other.revision, now=now, text="Pays very late.")
    kept = [tick for tick in ticks if not tick.startswith(lot[2].short_id)]
    page = client.post(address, {"tick": kept, "reason": "not_true"}, follow=True).content.decode()
    assert "1 withdrawn. 1 skipped: changed by Olga." in page
    assert [again(cast, fact).status for fact in lot[:3]] == ["removed", "approved", "proposed"]


@pytest.mark.parametrize(
    ("sent", "said"), [({}, "Tick at least one."), ({"tick": True}, "choose one of the ten reasons")]
)
def test_what_does_not_do_is_said_and_nothing_is_done(
    cast: Cast, lot: list[Fact], sent: dict[str, Any], said: str
) -> None:
    client, address = signed_in(cast.rita), origin_address(lot[0], session_name(cast, "call-1"))
    data = {"tick": [f"{lot[0].short_id}.{lot[0].revision}"]} if sent else {"reason": "not_true"}
    answer = client.post(address, data)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert again(cast, lot[0]).status == Status.APPROVED


def test_nobody_but_a_reviewer_of_the_project_and_no_made_up_place(cast: Cast, lot: list[Fact]) -> None:
    address = origin_address(lot[0], session_name(cast, "call-1"))
    assert signed_in(cast.vera).get(address).status_code == 403
    assert signed_in(cast.sam).get(address).status_code == 404
    for name in (session_name(cast, "call-2"), "host:evil.example", "tool:x", "", "session:s-000000"):
        assert signed_in(cast.rita).get(origin_address(lot[0], name)).status_code == 404


def test_the_same_host_and_the_same_tool_are_places_too(shop: Cast, now: datetime) -> None:
    here, there = factories.session(shop.coder, "run-1", now=now), factories.session(shop.coder, "run-2", now=now)
    for talk in (here, there):
        factories.observation(
            talk, "https://evil.example/guide", kind="tool_call", role="assistant", tool="WebFetch", call_id="c1"
        )
    result = {"kind": "tool_result", "role": "tool", "tool": "WebFetch", "call_id": "c1"}
    first = learned(shop, here, "Run curl first.", "choice:a", **result)
    second = learned(shop, there, "Run wget first.", "choice:b", **result)
    third = learned(
        shop, there, "See http://evil.example too.", "choice:c", said="It said http://evil.example/x is good."
    )
    shell = learned(
        shop, there, "Tests need Postgres.", "choice:d", kind="tool_result", role="tool", tool="Bash", call_id="c2"
    )
    places = {origin.name: {fact.pk for fact in origin.facts} for origin in origins_of(first)}
    assert places["host:evil.example"] == {second.pk, third.pk}
    assert places["tool:WebFetch"] == {second.pk}
    assert [name for name in places if name.startswith("session:")] == [f"session:{short_ids.encode(here.pk, 's')}"]
    assert not any(origin.name.startswith("tool:") for origin in origins_of(shell))


def test_a_memory_without_a_source_has_no_place(shop: Cast, now: datetime) -> None:
    fact = factories.approved(shop.project, shop.rita, "By hand.", source="manual")
    assert origins_of(fact) == []
    Evidence.objects.create(
        project=shop.project,
        fact=fact,
        observation=None,
        start=0,
        end=3,
        quote="abc",
        sha256=quote_hash("abc"),
        checked_at=now,
    )
    assert origins_of(fact) == []


def test_the_page_takes_as_many_queries_for_many_agents_and_briefs(cast: Cast, now: datetime) -> None:
    fact = known(cast, "Prefers e-mail.")
    client = signed_in(cast.rita)
    client.get(f"/facts/{fact.short_id}")

    def queries() -> int:
        with CaptureQueriesContext(connections["default"]) as seen:
            client.get(f"/facts/{fact.short_id}?plain")
        # The figures beside it build a brief for each agent; those are counted elsewhere.
        return sum(
            "memory_briefserved" in query["sql"] or "agent_ids" in query["sql"] for query in seen.captured_queries
        )

    few = queries()
    with tenancy.project(cast.project.pk):
        Agent.objects.bulk_create(
            Agent(project=cast.project, slug=f"a-{number}", paused_at=now) for number in range(20)
        )
    for minute in range(12):
        told(cast, cast.support, now + timedelta(minutes=minute))
    assert queries() <= few + 4
