"""A memory that a rule let in and that was drawn lies in the pile as a new card: nothing on it says that it is live."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory.models import BriefServed, Decision, Fact, Feedback, Status
from projects import tenancy
from review.deciding import arrival, batches, sampling
from review.models import Sample
from review.notices import gathering
from review.piles import samples
from review.piles.pile import Pile
from review.piles.reading import rows
from tests.factories import Cast
from tests.review.arriving import found, rule_for
from tests.review.test_desk import HTMX, decide, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def drawn(cast: Cast) -> Fact:
    """One drawn memory, and nothing else in the pile."""
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        rule_for(cast, now)
        fact = found(cast, 1, now=now)
    assert arrival.sweep(now) == 1
    with tenancy.project(cast.project.pk):
        assert Sample.objects.get(fact=fact).drawn
        return Fact.objects.select_related("subject", "project").get(pk=fact.pk)


def bare(page: str) -> str:
    """The desk without what differs from load to load and from memory to memory."""
    desk = page[page.index('<div id="desk"') :]
    desk = re.sub(r"(?:f|s|o|c)-[0-9a-hjkmnp-tv-z]{6}|#o\d+|\+\d+ tokens|\+\d+<", "*", desk)
    desk = re.sub(r"Step \d+|step\.\d+|port \d+|run-\d+|5\d{3}", "*", desk)
    desk = re.sub(r'(?:nonce|value)="[\w+/=:-]{16,}"|"X-CSRFToken": "\w+"|name="revision" value="\d+"', "*", desk)
    # What comes before and after them.
    desk = re.sub(r'<a href="\?card=\*".*?</a>\s*', "", desk)
    # Their own numbers: how far the pile is, and how long ago.
    desk = re.sub(r"<div class=\"pile\">.*?</div>|\d+ s ago|just now|\d+ min ago", "*", desk, flags=re.DOTALL)
    return re.sub(r"\s+", " ", desk)


def test_its_card_is_that_of_a_proposal_to_the_last_letter(cast: Cast, drawn: Fact) -> None:
    """Held against a proposal of the same making that no rule let in."""
    with tenancy.project(cast.project.pk):
        waits = found(cast, 2, now=timezone.now(), about="repo:other-api")
    rita = signed_in(cast.rita)
    for panel in ("", "&panel=edit", "&panel=reject", "&panel=scope", "&panel=later"):
        of_drawn = rita.get(f"/p/shop/review?card={drawn.short_id}{panel}").content.decode()
        of_proposal = rita.get(f"/p/shop/review?card={waits.short_id}{panel}").content.decode()
        assert "Step 1 of the build" in of_drawn
        assert bare(of_drawn).replace("orders-api", "*") == bare(of_proposal).replace("other-api", "*"), panel
    page = rita.get(f"/p/shop/review?card={drawn.short_id}").content.decode()
    for words in ("arrival", "Olga", "Still true", "Confirm", "Withdraw"):
        assert words not in bare(page)


def test_it_lies_among_the_proposals_and_not_before_them(cast: Cast, drawn: Fact) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        waiting = [found(cast, number, now=now, kind="message", role="user") for number in range(10, 17)]
        pile = Pile.of(cast.project, cast.rita, now)
        assert pile.left.index(drawn.pk) == samples.EVERY
        assert set(pile.left) == {drawn.pk, *(fact.pk for fact in waiting)}
        assert pile.open.total == len(pile.left), "it is counted where it lies"


def test_the_drawn_ones_are_woven_in() -> None:
    assert list(samples.woven("abcdefg", "XY")) == ["a", "b", "c", "X", "d", "e", "f", "Y", "g"]
    assert list(samples.woven("a", "XYZ")) == ["a", "X", "Y", "Z"]
    assert list(samples.woven("", "X")) == ["X"]
    assert list(samples.woven("abc", "")) == ["a", "b", "c"]


@pytest.mark.parametrize("htmx", [True, False])
def test_approving_it_says_approved_and_confirms_it(cast: Cast, drawn: Fact, htmx: bool) -> None:
    answer = decide(signed_in(cast.rita), drawn, "approve", htmx=htmx)
    assert answer.status_code == (200 if htmx else 302)
    if htmx:
        assert 'data-announce="Approved.' in answer.content.decode()
    with tenancy.project(cast.project.pk):
        assert Sample.objects.get().verdict == "holds"
        assert Decision.objects.get(person=cast.rita).verb == "reconfirm"


def test_rejecting_it_takes_it_out_of_use_and_tells_agents(cast: Cast, drawn: Fact) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        BriefServed.objects.create(
            project=cast.project, agent=cast.coder, etag="x", tokens=9, budget=99, fact_ids=[drawn.pk], at=now
        )
    answer = decide(signed_in(cast.rita), drawn, "reject", reason="7")
    assert answer.status_code == 200
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=drawn.pk)
        assert fact.status == Status.REMOVED
        assert not Fact.objects.visible_to(cast.coder, now).exists()
        assert fact.retraction_set.exists() if hasattr(fact, "retraction_set") else True
        assert Sample.objects.get().verdict == "severe"


def test_its_last_page_and_the_memory_list_tell_the_truth(cast: Cast, drawn: Fact) -> None:
    rita = signed_in(cast.rita)
    page = rita.get(f"/facts/{drawn.short_id}").content.decode()
    assert "On arrival, by Olga’s rule of" in page
    assert "Countersigned by" not in page
    assert "On arrival, by Olga’s rule of" in rita.get("/p/shop/memory").content.decode()


def test_a_list_holds_it_as_a_line_and_one_act_approves_it(cast: Cast, drawn: Fact) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        waits = found(cast, 2, now=now, kind="message", role="user")
    client: Client = signed_in(cast.rita)
    page = client.get("/p/shop/review?as=list").content.decode()
    assert page.count("Still true?") == 0
    for fact in (drawn, waits):
        assert f"{fact.short_id}:{fact.revision}" in page
    ticks = [f"{fact.short_id}:{fact.revision}" for fact in (drawn, waits)]
    answer = client.post("/p/shop/review/list", {"fact": ticks}, headers=HTMX)
    assert answer.status_code == 200
    assert "2 approved" in answer.content.decode()
    with tenancy.project(cast.project.pk):
        assert Sample.objects.get().verdict == "holds"


def test_an_act_on_many_rejects_it(cast: Cast, drawn: Fact) -> None:
    with tenancy.project(cast.project.pk):
        member = cast.project.memberships.get(person=cast.rita)
        done = batches.reject_all(member, [(drawn.pk, drawn.revision)], "misread", timezone.now())
        assert done.words == "1 rejected"
        assert Sample.objects.get().verdict == "severe"


def test_one_that_an_agent_complained_of_comes_as_a_complaint(cast: Cast, drawn: Fact) -> None:
    now: datetime = timezone.now()
    with tenancy.project(cast.project.pk):
        Feedback.objects.create(
            project=cast.project, fact=drawn, agent=cast.coder, verdict="misled", at=now, said_on=now.date()
        )
        assert rows(*samples.asked(cast.project.pk, now)) == []
        assert Pile.of(cast.project, cast.rita, now + timedelta(seconds=1)).left == (drawn.pk,)
    page = signed_in(cast.rita).get(f"/p/shop/review?card={drawn.short_id}").content.decode()
    assert "Complaint" in page


def test_a_digest_counts_it_where_it_lies(cast: Cast, drawn: Fact) -> None:
    with tenancy.project(cast.project.pk):
        line = gathering._line(cast.project, timezone.now())
    assert (line["waiting"], line["still_true"], line["complaints"]) == (1, 0, 0)


def test_one_that_was_put_off_or_ended_does_not_lie_there(cast: Cast, drawn: Fact) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        for change in ({"put_off_until": now + timedelta(days=1)}, {"expires_at": now - timedelta(days=1)}):
            Fact.objects.filter(pk=drawn.pk).update(**change)
            assert rows(*samples.asked(cast.project.pk, now)) == []
            Fact.objects.filter(pk=drawn.pk).update(put_off_until=None, expires_at=None)
        assert rows(*samples.asked(cast.project.pk, now)) == [(drawn.pk,)]


def test_a_masked_memory_is_a_copy(cast: Cast, drawn: Fact) -> None:
    with tenancy.project(cast.project.pk):
        now = timezone.now()
        looks = samples.shown(drawn, now)
        assert (looks.status, drawn.status) == (Status.PROPOSED, Status.APPROVED)
        assert samples.is_masked(looks)
        assert not samples.is_masked(drawn)
        assert sampling.is_open(drawn, now)
        assert samples.shown_all([drawn])[0].status == Status.PROPOSED
