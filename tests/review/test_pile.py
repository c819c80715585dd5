"""The pile: what comes first, that it ends, that nothing of the rest is lost, and whose card is whose."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from memory import memories_in
from memory.existing import Found, MemoryLine
from memory.models import BriefServed, Fact, Feedback, Relation, SessionSubject, Status
from projects import tenancy
from projects.models import Membership, Person
from review.deciding.pace import gaps
from review.models import Assignment, Lease
from review.piles import counts, front
from review.piles.lines import lines_of
from review.piles.pile import Pile, left_today
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def proposals(cast: Cast, count: int, **fields: object) -> list[Fact]:
    """`count` proposals with a quote each, the last the most worth."""
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, f"call-{fields.get('about', '')}{count}")
        made = []
        for number in range(count):
            quote = factories.observation(session, f"Remember number {number}.")
            key = f"{fields.get('type', 'fix')}:n.{number}"
            text = f"Remember number {number}."
            made.append(factories.proposal(cast.project, text, key=key, quote=quote, agent=cast.support, **fields))
            Fact.objects.filter(pk=made[-1].pk).update(worth=1 + number)
    return made


def small_sitting(cast: Cast, cards: int) -> None:
    with tenancy.system("command"):
        cast.project.review_policy = {"sitting": cards}
        cast.project.save(update_fields=["review_policy"])


def pile_of(cast: Cast, person: Person | None = None, now: datetime | None = None) -> Pile:
    with tenancy.project(cast.project.pk):
        return Pile.of(cast.project, person or cast.rita, now or timezone.now())


def decide(client: Client, fact: Fact, verb: str = "approve", **data: str) -> str:
    answer = client.post(
        f"/facts/{fact.short_id}/decisions", {"verb": verb, "revision": fact.revision, **data}, headers=HTMX
    )
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


# The order ------------------------------------------------------------------------------------------------------------


def test_proposals_come_by_worth_and_those_of_an_open_session_first(cast: Cast, now: datetime) -> None:
    facts = proposals(cast, 3)
    with tenancy.project(cast.project.pk):
        waiting = factories.proposal(cast.project, "Of little worth.", about="customer:here", key="fix:here")
        run = factories.session(cast.support, "now-open", now=now)
        SessionSubject.objects.create(project=cast.project, session=run, subject=waiting.subject)
    assert pile_of(cast).left == (waiting.pk, *[fact.pk for fact in reversed(facts)])
    with tenancy.project(cast.project.pk):
        run.mark("distilled")
    assert pile_of(cast).left[-1] == waiting.pk


def test_what_agents_have_and_may_be_wrong_comes_first_by_reach_and_severity(cast: Cast, now: datetime) -> None:
    facts = proposals(cast, 2)
    with tenancy.project(cast.project.pk):
        live = {
            name: factories.approved(cast.project, cast.rita, f"{name}.", key=f"fix:{name}")
            for name in ("due", "widely", "stale", "misled", "contested")
        }
        ago = now - timedelta(days=1)
        for name in ("due", "widely", "stale", "misled"):
            Fact.objects.filter(pk=live[name].pk).update(review_due_at=ago, confirmed_at=now - timedelta(days=9))
        for name in ("stale", "misled"):
            Feedback.objects.create(
                project=cast.project, fact=live[name], agent=cast.support, verdict=name, said_on=ago.date(), at=ago
            )
        against = factories.proposal(
            cast.project, "No.", key="fix:no", relation=Relation.CONFLICTS, related=live["contested"]
        )
        for _ in range(40):
            BriefServed.objects.create(
                project=cast.project,
                agent=cast.support,
                etag="e",
                fact_ids=[live["widely"].pk],
                tokens=1,
                budget=9,
                at=now,
            )
    expected = [live["misled"], live["stale"], live["widely"], against, live["due"], facts[1], facts[0]]
    assert list(pile_of(cast).left) == [fact.pk for fact in expected]


def test_severity_counts_who_complained() -> None:
    assert front.severity(2, 0) > front.severity(1, 0) > front.severity(0, 1)
    assert front.severity(0, 1) > front.severity(0, 0, is_conflict=True) > front.severity(0, 0)


# It ends --------------------------------------------------------------------------------------------------------------


def test_the_pile_ends_after_one_sitting_and_goes_on_only_when_asked(cast: Cast) -> None:
    small_sitting(cast, 5)
    facts = proposals(cast, 12)
    client = signed_in(cast.rita)
    for fact in reversed(facts[8:]):
        page = decide(client, fact)
    assert "4 of 5" in page
    page = decide(client, facts[7])
    assert "Done. 5 approved." in page
    assert "Take another 5" in page
    assert "7 held back" in page
    assert "Take another" not in signed_in(cast.vera).get("/p/shop/review").content.decode()
    assert client.post("/p/shop/review/more").status_code == 302
    page = client.get("/p/shop/review").content.decode()
    assert "5 of 10" in page
    # Another person's day is their own.
    assert "0 of 5" in signed_in(cast.olga).get("/p/shop/review").content.decode()


def test_an_undo_gives_the_card_back_to_the_sitting(cast: Cast) -> None:
    small_sitting(cast, 5)
    facts = proposals(cast, 6)
    client = signed_in(cast.rita)
    decide(client, facts[5])
    client.post("/p/shop/review/undo", headers=HTMX)
    pile = pile_of(cast)
    assert (pile.done, len(pile.left)) == (0, 5)


def test_approving_a_list_counts_each_card_and_a_question_about_two_is_one(cast: Cast) -> None:
    facts = proposals(cast, 4)
    client = signed_in(cast.rita)
    items = [f"{fact.short_id}:{fact.revision}" for fact in facts[:3]]
    assert client.post("/p/shop/review/list", {"fact": items}, headers=HTMX).status_code == 200
    assert pile_of(cast).done == 3
    with tenancy.project(cast.project.pk):
        live = Fact.objects.get(pk=facts[0].pk)
        asked = factories.proposal(cast.project, "No.", key="fix:no", relation=Relation.CONFLICTS, related=live)
    decide(client, asked, "keep_neither", beside=str(live.revision))
    assert pile_of(cast).done == 4


def test_a_card_that_lay_in_a_pile_is_marked_once(cast: Cast, now: datetime) -> None:
    small_sitting(cast, 5)
    facts = proposals(cast, 7)
    pile_of(cast, now=now)
    pile_of(cast, now=now + timedelta(days=1))
    with tenancy.project(cast.project.pk):
        marked = dict(Fact.objects.values_list("pk", "piled_at"))
    assert [marked[fact.pk] for fact in facts] == [None, None, *[now] * 5]


def test_minutes_left_go_by_the_persons_own_pace(cast: Cast, now: datetime) -> None:
    assert gaps([90.0, 0.0, 30.0, 30.0, 4000.0]) == [30.0, 60.0]
    facts = proposals(cast, 30)
    with tenancy.project(cast.project.pk):
        for number, fact in enumerate(facts[:12]):
            fact.approve(cast.rita, revision=1, now=now - timedelta(days=1) + timedelta(minutes=number))
    assert pile_of(cast).minutes_left == 18
    assert pile_of(cast, cast.olga).minutes_left == 4


# Whose card -----------------------------------------------------------------------------------------------------------


def test_a_card_that_another_looks_at_is_passed_over_and_counted(cast: Cast, now: datetime) -> None:
    facts = proposals(cast, 2)
    with tenancy.project(cast.project.pk):
        Lease.objects.create(project=cast.project, fact=facts[1], person=cast.olga, until=now + timedelta(minutes=3))
    assert pile_of(cast).left == (facts[0].pk,)
    assert pile_of(cast, cast.olga).left == (facts[1].pk, facts[0].pk)
    page = signed_in(cast.rita).get("/p/shop/review").content.decode()
    assert "2 open, 1 being looked at" in page
    assert "Olga is on it" in signed_in(cast.rita).get("/p/shop/review/held").content.decode()
    asked = signed_in(cast.rita).get(f"/p/shop/review?card={facts[1].short_id}").content.decode()
    assert f'id="fact-{facts[1].short_id}"' in asked


def test_a_pile_that_others_look_at_is_not_called_empty(cast: Cast, now: datetime) -> None:
    (fact,) = proposals(cast, 1)
    with tenancy.project(cast.project.pk):
        Lease.objects.create(project=cast.project, fact=fact, person=cast.olga, until=now + timedelta(minutes=3))
    assert "1 card is being looked at." in signed_in(cast.rita).get("/p/shop/review").content.decode()


def test_what_was_put_before_somebody_comes_first_there_and_not_elsewhere(cast: Cast, now: datetime) -> None:
    facts = proposals(cast, 3)
    with tenancy.project(cast.project.pk):
        Assignment.objects.create(project=cast.project, fact=facts[0], person=cast.olga, assigned_by=cast.rita, at=now)
    assert pile_of(cast, cast.olga).left == (facts[0].pk, facts[2].pk, facts[1].pk)
    assert pile_of(cast).left == (facts[2].pk, facts[1].pk)


def test_another_project_is_in_no_count(cast: Cast, now: datetime) -> None:
    proposals(cast, 3)
    with tenancy.system("command"):
        waits = counts.waiting([cast.project.pk, cast.other.pk], now)
        member = Membership.objects.get(project=cast.other, person=cast.sam)
        assert (waits[cast.project.pk].total, waits[cast.other.pk].total, left_today(member, now)) == (3, 0, 0)


@pytest.mark.parametrize(("number", "more", "said"), [(0, False, ""), (7, False, "7"), (10_000, True, "10,000+")])
def test_a_count_stops_at_its_cap(number: int, more: bool, said: str) -> None:
    assert counts.words(number, more) == said


def test_a_project_with_more_than_the_cap_is_not_counted_each_time(cast: Cast, now: datetime) -> None:
    pk = cast.project.pk
    assert counts.told([(pk, counts.CAP - 1, 9, 0)])[pk] == counts.Waiting(counts.CAP - 10, 0)
    assert counts.asked([pk], now)[1]["capped"] == []
    waits = counts.told([(pk, counts.CAP, 9, 3)])[pk]
    assert (waits.is_capped, waits.but(40)) == (True, "9,000+")
    proposals(cast, 3)
    try:
        with tenancy.project(pk):
            assert counts.waiting([pk], now)[pk].is_capped, "it is remembered"
    finally:
        cache.clear()
    with tenancy.project(pk):
        assert counts.waiting([pk], now)[pk].total == 3


def test_the_pile_asks_no_more_of_the_database_when_it_is_long(cast: Cast, django_assert_num_queries) -> None:
    proposals(cast, 2)
    pile_of(cast)
    with tenancy.project(cast.project.pk), django_assert_num_queries(8):
        Pile.of(cast.project, cast.rita, timezone.now())
    proposals(cast, 60, about="customer:other")
    pile_of(cast)
    with tenancy.project(cast.project.pk), django_assert_num_queries(8):
        Pile.of(cast.project, cast.rita, timezone.now())


# A thousand brought in ------------------------------------------------------------------------------------------------


def lines(texts: list[tuple[str, str, str]]) -> Found:
    return Found(
        "json",
        tuple(
            MemoryLine(number=number, text=text, type=type_, subject=about)
            for number, (text, type_, about) in enumerate(texts, 1)
        ),
    )


@pytest.mark.timeout(1500)
def test_of_a_thousand_imported_the_pile_holds_the_useful_and_the_rest_is_not_lost(cast: Cast, now: datetime) -> None:
    words = ("oak", "elm", "fir", "ash", "yew", "box", "bay", "fig", "gum", "tea")
    names = [f"{a} {b} {c}" for a in words for b in words for c in words]
    with tenancy.project(cast.project.pk):
        # Decided by another: a sitting counts what its own person decided today.
        for number in range(6):
            factories.approved(cast.project, cast.olga, f"Known {number}.", key=f"fix:known.{number}")
            bad = factories.proposal(cast.project, f"Bad {number}.", key=f"error:bad.{number}")
            bad.reject(cast.olga, revision=1, now=now, reason="vague")
        busy = factories.subject(cast.project, "customer:busy")
        for number in range(4):
            run = factories.session(cast.support, f"busy-{number}", now=now, status="distilled")
            SessionSubject.objects.create(project=cast.project, session=run, subject=busy)
    repeated = [(f"The {name} gate is shut on Sundays", "note", f"customer:r{n}") for n, name in enumerate(names[:20])]
    useful = [(f"The {name} branch rings before it delivers", "fix", "customer:busy") for name in names[20:40]]
    others = [
        (f"The {name} shelf was painted again", ("note", "error")[n % 2], f"customer:x{n % 200}")
        for n, name in enumerate(names[40:1000])
    ]
    brought = memories_in.bring_in(cast.project, lines([*others, *useful, *repeated]), person=cast.rita, now=now)
    memories_in.bring_in(cast.project, lines(repeated), person=cast.rita, now=now)
    assert len(brought.facts) == 1000
    by_text = {fact.text: fact.pk for fact in brought.facts}
    labelled = {by_text[text] for text, _, _ in [*repeated, *useful]}
    pile = pile_of(cast)
    assert len(pile.left) == 40
    assert len(labelled & set(pile.left)) >= 36
    client = signed_in(cast.rita)
    page, held, pages = "/p/shop/review/held", set(), 0
    while page:
        body = client.get(page).content.decode()
        held |= set(re.findall(r'<tr id="fact-([\w-]+)"', body))
        following = re.search(r'href="(/p/shop/review/held\?after=[\w-]+)"', body)
        page, pages = following[1] if following else "", pages + 1
        assert pages < 30
    with tenancy.project(cast.project.pk):
        everything = {fact.short_id: fact.pk for fact in Fact.objects.filter(status=Status.PROPOSED)}
    assert len(held) == 960
    assert {everything[one] for one in held} | set(pile.left) == set(everything.values())


# The list -------------------------------------------------------------------------------------------------------------


def test_a_list_ticks_what_is_plain_and_says_what_stays(cast: Cast) -> None:
    proposals(cast, 2)
    proposals(cast, 1, type="commitment", about="customer:other")
    with tenancy.project(cast.project.pk):
        bare = factories.proposal(cast.project, "No quote here.", key="fix:bare")
        lines_ = {line.fact.pk: line for line in lines_of(cast.project, pile_of(cast).left)}
    assert lines_[bare.pk].flag == "No quote"
    page = signed_in(cast.rita).get("/p/shop/review?as=list").content.decode()
    assert page.count("checked") == 2
    assert "2 stay: " in page
    assert "1 reviewed one by one" in page
    assert "1 without a quote" in page


def test_a_forged_tick_approves_no_line_that_needs_its_card(cast: Cast) -> None:
    (risky,) = proposals(cast, 1, findings=[{"category": "health", "start": 0, "end": 2}])
    (plain,) = proposals(cast, 1, about="customer:other")
    sent = {"fact": [f"{fact.short_id}:{fact.revision}" for fact in (risky, plain)]}
    signed_in(cast.rita).post("/p/shop/review/list", sent)
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=plain.pk).status == Status.APPROVED
        assert Fact.objects.get(pk=risky.pk).status == Status.PROPOSED


def test_ticked_lines_are_rejected_for_one_reason_and_one_undo_takes_it_back(cast: Cast) -> None:
    facts = proposals(cast, 3)
    client = signed_in(cast.rita)
    sent = {"fact": [f"{fact.short_id}:{fact.revision}" for fact in facts], "reason": "vague"}
    assert "3 rejected" in client.post("/p/shop/review/list", sent, headers=HTMX).content.decode()
    client.post("/p/shop/review/undo")
    with tenancy.project(cast.project.pk):
        assert Fact.objects.filter(status=Status.PROPOSED).count() == 3


def test_nothing_ticked_is_said(cast: Cast) -> None:
    proposals(cast, 1)
    answer = signed_in(cast.rita).post("/p/shop/review/list", {"fact": "nonsense"})
    assert answer.status_code == 422
    assert "Nothing is ticked." in answer.content.decode()


def test_a_viewer_sees_the_list_and_decides_nothing(cast: Cast) -> None:
    (fact,) = proposals(cast, 1)
    client = signed_in(cast.vera)
    assert "Deciding needs the role" in client.get("/p/shop/review?as=list").content.decode()
    for address in ("list", "more"):
        sent = {"fact": f"{fact.short_id}:{fact.revision}"}
        assert client.post(f"/p/shop/review/{address}", sent).status_code == 403


# The end --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "briefs"), [(1, "1 brief"), (3, "3 briefs")])
def test_the_end_says_who_starts_with_it_and_what_came_of_the_day_before(
    cast: Cast, now: datetime, times: int, briefs: str
) -> None:
    before = proposals(cast, 2)
    (today,) = proposals(cast, 1, about="customer:today", everyone=False, agent_ids=[cast.support.pk, cast.sales.pk])
    yesterday = now - timedelta(days=1)
    with tenancy.project(cast.project.pk):
        for fact in before:
            fact.approve(cast.rita, revision=1, now=yesterday)
        for _ in range(times):
            ids = [fact.pk for fact in before]
            BriefServed.objects.create(
                project=cast.project, agent=cast.support, etag="e", fact_ids=ids, tokens=1, budget=9, at=now
            )
        Feedback.objects.create(
            project=cast.project, fact=before[0], agent=cast.support, verdict="helped", said_on=now.date(), at=now
        )
    page = decide(signed_in(cast.rita), today, text="Remember that number 0.")
    assert "Done. 1 edited." in page
    assert "Sales and support have it at hand from their next brief on." in page
    assert f"Yesterday’s 2 were in {briefs} and used in 1." in page
    assert "See today’s one again" in page


def test_todays_decisions_are_listed_with_an_undo_each(cast: Cast) -> None:
    facts = proposals(cast, 2)
    client = signed_in(cast.rita)
    for fact in facts:
        decide(client, fact)
    page = client.get("/p/shop/review/decided").content.decode()
    addresses = re.findall(r'action="(/decisions/\d+/undo)"', page)
    assert len(addresses) == 2
    answer = client.post(addresses[0], {"back": "decided"})
    assert answer["Location"] == "/p/shop/review/decided"
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=facts[1].pk).status == Status.PROPOSED
    assert client.get("/p/shop/review/decided").content.decode().count("/undo") == 1


def test_a_day_without_approvals_changes_no_brief(cast: Cast) -> None:
    (fact,) = proposals(cast, 1)
    page = decide(signed_in(cast.rita), fact, "reject", reason="vague")
    assert "Done. 1 rejected." in page
    assert "No brief changes: nothing was approved." in page
