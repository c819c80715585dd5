"""The simulator: the brief an agent would get, why a memory is not in it, and what was really served."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from memory import brief, short_ids, why_not
from memory.models import BriefServed, Fact
from memory.why_not import Gate
from projects import tenancy
from projects.models import AuditEvent, Person
from review.cards.sheet import COUNTED_WHOLE, lines_of
from tests import factories
from tests.factories import Cast, approved, proposal, subject

pytestmark = pytest.mark.django_db
ABOUT = [("customer", "cust_123")]


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def simulate(client: Client, **form: Any) -> HttpResponse:
    return client.post("/p/shop/briefs", {"agent": "support", "subjects": "customer:cust_123", **form})


def text(answer: HttpResponse) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_a_viewer_sees_what_an_agent_would_be_told_and_nothing_is_sent(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        fact = approved(cast.project, cast.rita)
    answer = simulate(signed_in(cast.vera), tokens="600")
    assert answer.status_code == 200
    assert f"- [{fact.short_id}] Prefers e-mail, in the morning." in answer.content.decode()
    with tenancy.project(cast.project.pk):
        assert not BriefServed.objects.exists()
        event = AuditEvent.objects.get(action="brief.simulate")
    assert (event.object_ids, event.actor_id) == ([fact.pk], cast.vera.pk)


def test_the_tokens_of_the_lines_are_those_of_the_bar(cast: Cast, now) -> None:  # type: ignore[no-untyped-def]
    with tenancy.project(cast.project.pk):
        for number in range(6):
            about = ["customer:cust_123", "project:shop"][number % 2]
            approved(cast.project, cast.rita, f"Lesson {number} 日本.", key=f"fix:{number}", about=about)
        built = brief.build(cast.support, subjects=ABOUT, max_tokens=1200, now=now)
    page = simulate(signed_in(cast.vera), tokens="1200").content.decode()
    lines = [int(cost) for cost in re.findall(r'<p class="r[^"]*"><span>.*?</span><span>(\d+)</span>', page)]
    shares = re.findall(r"<dd>([\d]+)", page)
    assert sum(lines) == built.tokens == sum(map(int, shares[:-1]))
    assert int(shares[-1]) == 1200 - built.tokens


def test_a_long_brief_is_counted_line_by_line_and_still_adds_up(shop: Cast, now) -> None:  # type: ignore[no-untyped-def]
    for number in range(250):
        approved(shop.project, shop.rita, f"Order {number} was late. " * 5, key=f"fix:{number}")
    built = brief.build(shop.support, subjects=ABOUT, max_tokens=20_000, now=now)
    assert len(built.text) > COUNTED_WHOLE
    assert sum(line.tokens for line in lines_of(built.text, {})) == built.tokens


def test_what_is_only_supposed_stands_on_green_and_is_not_kept(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        known = approved(cast.project, cast.rita, "Prefers e-mail.")
        fact = proposal(cast.project, "Prefers the phone.", value="phone")
    client = signed_in(cast.vera)
    plain = simulate(client).content.decode()
    assert f'value="{fact.short_id}">' in plain
    assert 'class="l new"' not in plain
    page = simulate(client, as_if=fact.short_id).content.decode()
    assert re.search(rf'<p class="l new"><bdi dir="auto">- \[{fact.short_id}\]', page)
    assert "as if approved" in page
    assert f"- [{known.short_id}]" not in page
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=fact.pk).status == "proposed"


def test_a_subject_is_found_by_its_name_and_never_stands_in_an_address(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita)
        row = subject(cast.project)
        row.label = "Sarah Chen"
        row.save(update_fields=["label"])
    client = signed_in(cast.vera)
    page = simulate(client, subjects="sarah chen").content.decode()
    assert "Prefers e-mail, in the morning." in page
    assert "Nothing is known by the name Nobody" in simulate(client, subjects="Nobody").content.decode()
    by_id = client.get(f"/p/shop/briefs?agent=support&about={short_ids.encode(row.pk, 'c')}").content.decode()
    assert "Prefers e-mail, in the morning." in by_id
    for address in re.findall(r'(?:href|action)="([^"]*)"', page + by_id):
        assert "cust_123" not in address
        assert "arah" not in address


def test_tokens_that_are_no_number_are_asked_for_again_and_nothing_typed_is_lost(cast: Cast) -> None:
    answer = simulate(signed_in(cast.vera), tokens="many", task="refund")
    assert answer.status_code == 422
    assert "Tokens are a whole number" in answer.content.decode()
    assert ">refund</textarea>" in answer.content.decode()


def test_another_projects_ids_mean_nothing(cast: Cast) -> None:
    with tenancy.project(cast.other.pk):
        foreign = proposal(cast.other, "Foreign words.", about="customer:cust_123")
    page = simulate(signed_in(cast.vera), as_if=foreign.short_id, why=foreign.short_id).content.decode()
    assert "Foreign words." not in page


def gates(cast: Cast, fact: Fact, now, **asked: Any):  # type: ignore[no-untyped-def]
    asked.setdefault("subjects", ABOUT)
    built = brief.build(cast.support, max_tokens=asked.pop("max_tokens", 1200), now=now, **asked)
    fact = Fact.objects.select_related("subject").get(pk=fact.pk)
    return why_not.why_not([fact], cast.support, built, now=now)[0]


@pytest.mark.parametrize(
    ("gate", "step"),
    [
        (Gate.CAME, 0),
        (Gate.WAITING, 1),
        (Gate.REJECTED, 1),
        (Gate.WITHDRAWN, 1),
        (Gate.LAPSED, 1),
        (Gate.REPLACED, 1),
        (Gate.MERGED, 1),
        (Gate.EXPIRED, 1),
        (Gate.FROZEN, 1),
        (Gate.OTHER_SUBJECT, 2),
        (Gate.OTHER_AGENTS, 3),
        (Gate.PAUSED, 4),
        (Gate.OWN_VALUE, 5),
        (Gate.BEHIND, 6),
        (Gate.BELOW_FLOOR, 7),
        (Gate.NO_ROOM, 8),
    ],
)
def test_the_first_gate_that_stopped_a_memory_is_named(shop: Cast, now, gate: Gate, step: int) -> None:  # type: ignore[no-untyped-def]
    made, asked = MADE[gate](shop, now)
    found = gates(shop, made, now, **asked)
    assert (found.gate, found.step) == (gate, step)
    if gate == Gate.BELOW_FLOOR:
        assert (found.score or 0.0) < found.floor == 0.3
    if gate == Gate.NO_ROOM:
        assert found.tokens + found.line_tokens > found.budget == 90


def _ended(status: str):  # type: ignore[no-untyped-def]
    def make(shop: Cast, now):  # type: ignore[no-untyped-def]
        fact = approved(shop.project, shop.rita)
        Fact.objects.filter(pk=fact.pk).update(status=status)
        return fact, {}

    return make


def _frozen(shop: Cast, now):  # type: ignore[no-untyped-def]
    fact = approved(shop.project, shop.rita)
    type(fact.subject).objects.filter(pk=fact.subject_id).update(frozen_at=now)
    return fact, {}


def _paused(shop: Cast, now):  # type: ignore[no-untyped-def]
    fact = approved(shop.project, shop.rita)
    shop.support.pause(now)
    return fact, {}


def _own(shop: Cast, now):  # type: ignore[no-untyped-def]
    fact = approved(shop.project, shop.rita)
    approved(shop.project, shop.rita, "Prefers letters.", everyone=False, agent_ids=[shop.support.pk])
    return fact, {}


def _behind(shop: Cast, now):  # type: ignore[no-untyped-def]
    fact = approved(shop.project, shop.rita, now=now - timedelta(days=3))
    for number in range(brief.LEAST_CANDIDATES):
        approved(shop.project, shop.rita, f"Newer {number}.", key=f"fix:{number}", now=now)
    return fact, {}


def _below(shop: Cast, now):  # type: ignore[no-untyped-def]
    fact = approved(shop.project, shop.rita, "Invoices are printed on Mondays.", about="project:shop", key="fix:print")
    return fact, {"task": "which carrier delivers boots"}


def _no_room(shop: Cast, now):  # type: ignore[no-untyped-def]
    for number in range(3):
        approved(shop.project, shop.rita, f"Seen often {number}.", key=f"fix:{number}", times_seen=9)
    return approved(shop.project, shop.rita, "Prefers e-mail, in the morning. " * 3, key="note:x"), {"max_tokens": 90}


MADE = {
    Gate.CAME: lambda shop, now: (approved(shop.project, shop.rita), {}),
    Gate.WAITING: lambda shop, now: (proposal(shop.project), {}),
    Gate.REJECTED: _ended("rejected"),
    Gate.WITHDRAWN: _ended("removed"),
    Gate.LAPSED: _ended("lapsed"),
    Gate.REPLACED: _ended("superseded"),
    Gate.MERGED: _ended("merged"),
    Gate.EXPIRED: lambda shop, now: (
        approved(shop.project, shop.rita, now=now - timedelta(days=9), expires_at=now - timedelta(days=1)),
        {},
    ),
    Gate.FROZEN: _frozen,
    Gate.OTHER_SUBJECT: lambda shop, now: (approved(shop.project, shop.rita, about="customer:other"), {}),
    Gate.OTHER_AGENTS: lambda shop, now: (
        approved(shop.project, shop.rita, everyone=False, agent_ids=[shop.sales.pk]),
        {},
    ),
    Gate.PAUSED: _paused,
    Gate.OWN_VALUE: _own,
    Gate.BEHIND: _behind,
    Gate.BELOW_FLOOR: _below,
    Gate.NO_ROOM: _no_room,
}


def test_every_gate_has_its_words_and_its_case() -> None:
    assert set(MADE) == set(Gate)


def test_why_not_answers_by_words_and_says_how_to_change_it(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita, "Speaks Catalan.", everyone=False, agent_ids=[cast.sales.pk])
    answer = simulate(signed_in(cast.vera), why="catalan")
    assert "It stopped at gate 3 of 8: it goes to sales only." in text(answer)
    assert "Change who sees it" in text(answer)
    assert "No memory here says that." in text(simulate(signed_in(cast.vera), why="zebra"))


def test_a_served_brief_is_shown_as_it_was_with_its_session(cast: Cast, now) -> None:  # type: ignore[no-untyped-def]
    with tenancy.project(cast.project.pk):
        fact = approved(cast.project, cast.rita)
        factories.session(cast.support, "call-77")
        made = brief.serve(cast.support, session="call-77", subjects=ABOUT, max_tokens=600, now=now)
        later = approved(cast.project, cast.rita, "Has a blue parrot.", key="note:parrot")
        fact.remove(cast.rita, revision=Fact.objects.get(pk=fact.pk).revision, now=now)
    client = signed_in(cast.vera)
    address = f"/briefs/{short_ids.encode(made.served_pk or 0, 'b')}"
    page = client.get(address)
    assert fact.short_id in page.content.decode()
    assert "call-77" in page.content.decode()
    assert later.short_id not in page.content.decode()
    asked = client.post(address, {"why": "e-mail"})
    assert "It was in this brief, for" in text(asked)
    assert "It was not in this brief. As things stand today: it is in this brief." in text(
        client.post(address, {"why": "parrot"})
    )
    assert short_ids.encode(made.served_pk or 0, "b") in client.get("/p/shop/briefs").content.decode()


def test_the_list_of_served_briefs_asks_the_same_number_of_queries_however_long(  # type: ignore[no-untyped-def]
    cast: Cast, now, django_assert_max_num_queries
) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita)
        for number in range(60):
            about = [("customer", f"cust_{number}")]
            subject(cast.project, f"customer:cust_{number}")
            brief.serve(cast.support, subjects=about, max_tokens=600, now=now)
    client = signed_in(cast.vera)
    with django_assert_max_num_queries(24):
        page = client.get("/p/shop/briefs").content.decode()
    assert page.count('<li><a href="/briefs/') == 50
    assert "Older" in page
