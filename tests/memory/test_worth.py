"""What makes a proposal worth a person's time: each part moves it the way it should, and no part can be talked up."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory import served, weighing
from memory.lapsing import lapse
from memory.learned import Learned
from memory.models import BriefServed, Fact, FactServed, ServedThrough, Session, Status, Verb
from memory.proposals import propose
from memory.reconciliation import Cited, place
from memory.worth import WAITING, Rates, Signals, worth
from projects.prepared import run
from tests import factories
from tests.factories import Cast

PLAIN = Signals(likely=0.7, served=0.0, sessions=1)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Signals(0.9, 0, 1), Signals(0.3, 0, 1)),
        (Signals(0.7, 8, 1), PLAIN),
        (Signals(0.7, 0, 3), Signals(0.7, 0, 2)),
        (PLAIN, Signals(0.7, 0, 1, is_flagged=True)),
        (PLAIN, Signals(0.7, 0, 1, relation="same_thing")),
        (PLAIN, Signals(0.7, 0, 1, relation=WAITING)),
        (Signals(0.7, 0, 1, relation=WAITING), Signals(0.7, 0, 1, relation="same_thing")),
        (PLAIN, Signals(0.7, 0, 1, is_quoted=False)),
        (PLAIN, Signals(0.7, 0, 1, length=900)),
        (Signals(0.7, 8, 1), Signals(0.7, 8, 1, is_place=True)),
        # Said in two sessions about nobody special comes before one flagged line about a busy subject.
        (Signals(0.7, 0, 2), Signals(0.7, 15, 1, is_flagged=True)),
    ],
)
def test_each_part_moves_it(better: Signals, worse: Signals) -> None:
    assert worth(better) > worth(worse) > 0


def test_a_type_without_decisions_is_as_likely_as_the_project_and_its_own_count_soon() -> None:
    none = Rates({})
    assert none.of("fix", "extraction", "local") == pytest.approx(0.7)
    known = Rates({("fix", "extraction", "local"): (20, 0), ("note", "import", ""): (0, 20)})
    assert known.of("fix", "import", "") > 0.8
    assert known.of("note", "extraction", "other") < 0.3
    assert 0.3 < known.of("choice", "extraction", "local") < 0.7


def quoted(cast: Cast, text: str, *, session: str, about: str = "customer:cust_123", now: datetime) -> Fact:
    run = Session.objects.filter(external_id=session).first() or factories.session(cast.support, session, now=now)
    said = factories.observation(run, text)
    learned = Learned(
        type="account_detail",
        key=f"account_detail:{text}",
        value=text,
        text=text,
        cited=(Cited(said, 0, len(text)),),
        source="extraction",
    )
    placed = place(learned, subject=factories.subject(cast.project, about), agent=cast.support, now=now, session=run)
    weighing.weigh(cast.project.pk, [placed.fact.pk], now)
    return Fact.objects.get(pk=placed.fact.pk)


def test_seen_in_another_session_raises_it(shop: Cast, now: datetime) -> None:
    once = quoted(shop, "Deliveries before noon.", session="a", now=now)
    twice = quoted(shop, "Deliveries before noon.", session="b", now=now)
    assert once.pk == twice.pk
    assert twice.worth > once.worth
    assert twice.times_seen == 2


def test_an_agent_that_repeats_itself_without_a_quote_raises_nothing(shop: Cast, now: datetime) -> None:
    asked = {"type": "fix", "key": "note", "value": "Mind the gate.", "subject": ("customer", "cust_123"), "now": now}
    first = propose(shop.support, **asked).fact
    before = Fact.objects.get(pk=first.pk)
    for _ in range(5):
        propose(shop.support, **asked)
    after = Fact.objects.get(pk=first.pk)
    assert (after.times_seen, after.worth) == (1, before.worth)


def test_a_subject_that_is_asked_for_raises_its_proposals(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project, "Deliveries before noon.", agent=shop.support)
    weighing.weigh(shop.project.pk, [fact.pk], now)
    before = Fact.objects.get(pk=fact.pk).worth
    brief(shop, [], now, subjects=[fact.subject_id])
    weighing.weigh(shop.project.pk, [fact.pk], now)
    assert Fact.objects.get(pk=fact.pk).worth > before


def test_what_others_are_served_does_not_raise_what_they_would_not_get(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(
        shop.project, "For sales alone.", agent=shop.sales, everyone=False, agent_ids=[shop.sales.pk]
    )
    weighing.weigh(shop.project.pk, [fact.pk], now)
    before = Fact.objects.get(pk=fact.pk).worth
    brief(shop, [], now, subjects=[fact.subject_id])
    weighing.weigh(shop.project.pk, [fact.pk], now)
    assert Fact.objects.get(pk=fact.pk).worth == before


def test_what_the_project_decided_moves_how_likely_it_is(shop: Cast, now: datetime) -> None:
    for number in range(8):
        bad = factories.proposal(shop.project, f"Bad {number}.", key=f"note:bad.{number}")
        bad.reject(shop.rita, revision=bad.revision, now=now, reason="vague")
        factories.approved(shop.project, shop.rita, f"Good {number}.", key=f"fix:good.{number}")
    good = factories.proposal(shop.project, "Another.", key="fix:another")
    poor = factories.proposal(shop.project, "Another note.", key="note:another")
    weighing.weigh(shop.project.pk, [good.pk, poor.pk], now)
    assert Fact.objects.get(pk=good.pk).worth > 2 * Fact.objects.get(pk=poor.pk).worth


@pytest.mark.django_db
def test_the_schedule_weighs_the_front_again(cast: Cast, now: datetime) -> None:
    from projects import tenancy

    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project, "Deliveries before noon.", agent=cast.support)
    assert weighing.refresh(now) == 1
    assert weighing.refresh(now) == 0
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=fact.pk).worth > 0


# What was served ------------------------------------------------------------------------------------------------------


def brief(cast: Cast, facts: list[Fact], at: datetime, **fields: object) -> BriefServed:
    return BriefServed.objects.create(
        project=cast.project,
        agent=cast.support,
        subject_ids=fields.pop("subjects", []),
        etag="e",
        fact_ids=[fact.pk for fact in facts],
        tokens=1,
        budget=100,
        at=at,
        **fields,
    )


@pytest.mark.django_db
def test_a_tally_counts_each_brief_once_and_what_came_later_where_it_is_asked(cast: Cast, now: datetime) -> None:
    from projects import tenancy

    with tenancy.project(cast.project.pk):
        fact = factories.approved(cast.project, cast.rita)
        for hours in (5, 4, 3):
            brief(cast, [fact], now - timedelta(hours=hours), subjects=[fact.subject_id])
        brief(cast, [fact], now - timedelta(hours=2), unchanged=True)
        assert served.briefs_with(fact) == 3
    served.tally(now)
    with tenancy.project(cast.project.pk):
        assert FactServed.objects.get().briefs == 3
        assert served.briefs_with(fact) == 3
        brief(cast, [fact], now)
        assert served.briefs_with(fact) == 4
        assert served.told_since(cast.project.pk, [fact.pk], now - timedelta(days=1)) == {fact.pk: {cast.support.pk}}
        assert 4.9 < dict(run("default", *served.lately_asked(cast.project.pk, [fact.pk], now)))[fact.pk] <= 5.0
    served.tally(now)
    served.tally(now)
    with tenancy.project(cast.project.pk):
        # The last one is too young to be settled: it is still counted where it is asked.
        assert ServedThrough.objects.get().brief < BriefServed.objects.order_by("-pk")[0].pk
        assert served.briefs_with(fact) == 4
    served.tally(now + timedelta(minutes=5))
    with tenancy.project(cast.project.pk):
        assert FactServed.objects.get().briefs == served.briefs_with(fact) == 4


# Lapsing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("piled_days", "seen_days", "lapses"),
    [(31, 40, True), (29, 40, False), (31, 5, False), (None, 91, True), (None, 89, False)],
)
@pytest.mark.django_db
def test_a_proposal_lapses_30_days_after_a_pile_and_90_held_back(
    cast: Cast, now: datetime, piled_days: int | None, seen_days: int, lapses: bool
) -> None:
    from projects import tenancy

    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project, now=now - timedelta(days=seen_days))
        piled = None if piled_days is None else now - timedelta(days=piled_days)
        Fact.objects.filter(pk=fact.pk).update(piled_at=piled)
        live = factories.approved(cast.project, cast.rita, "Old and live.", key="fix:live")
        Fact.objects.filter(pk=live.pk).update(last_seen_at=now - timedelta(days=400))
    assert lapse(now) == int(lapses)
    with tenancy.project(cast.project.pk):
        fact.refresh_from_db()
        assert fact.status == (Status.LAPSED if lapses else Status.PROPOSED)
        assert Fact.objects.get(pk=live.pk).status == Status.APPROVED


@pytest.mark.django_db
def test_what_lapsed_comes_back_when_it_is_seen_again_or_a_person_asks(cast: Cast, now: datetime) -> None:
    from projects import tenancy

    old = now - timedelta(days=100)
    with tenancy.project(cast.project.pk):
        fact = quoted(cast, "Deliveries before noon.", session="a", now=old)
    lapse(now)
    with tenancy.project(cast.project.pk):
        again = quoted(cast, "Deliveries before noon.", session="b", now=now)
        assert (again.pk, again.status, again.times_seen, again.piled_at) == (fact.pk, Status.PROPOSED, 2, None)
        Fact.objects.filter(pk=fact.pk).update(last_seen_at=old)
    assert lapse(now) == 1
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=fact.pk)
        decision = fact.decisions.filter(verb=Verb.LAPSE).order_by("-pk").first()
        fact.undo(decision, cast.rita, now=now)
        assert fact.status == Status.PROPOSED
    # Asked for by a person, it has its days from now.
    assert lapse(now + timedelta(days=29)) == 0
    assert lapse(now + timedelta(days=31)) == 1


def test_nearly_the_same_of_another_session_counts_more_than_a_pattern_within_one(shop: Cast, now: datetime) -> None:
    worths = {}
    for name, other in (("here", "a"), ("elsewhere", "b")):
        about = f"customer:{name}"
        first = quoted(shop, f"Deliveries {name} before noon.", session=f"{name}-a", about=about, now=now)
        alone = first.worth
        near = quoted(shop, f"Deliveries {name} by noon.", session=f"{name}-{other}", about=about, now=now)
        Fact.objects.filter(pk=near.pk).update(relation="same_thing", related=first)
        weighing.weigh(shop.project.pk, [first.pk], now)
        worths[name] = Fact.objects.get(pk=first.pk).worth / alone
    assert worths["elsewhere"] > worths["here"] > 1
    assert worths["elsewhere"] < 3  # less than the same words again
