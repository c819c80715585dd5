"""What becomes of other memories when one is countersigned or merged, and that one undo takes all of it back."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.models import Evidence, Fact, NotAllowed, Status
from projects.models import Membership
from review.deciding import undoing
from tests import factories
from tests.factories import Cast, approved, proposal


def membership(cast: Cast) -> Membership:
    return cast.rita.memberships.get(project=cast.project)


def quoted(cast: Cast, text: str, name: str, **fields: object) -> Fact:
    quote = factories.observation(factories.session(cast.support, name), text)
    return proposal(cast.project, text, quote=quote, **fields)


# Replacing -----------------------------------------------------------------------------------------------------------


def test_a_conflict_without_a_key_is_resolved_by_replacing(shop: Cast, now: datetime) -> None:
    old = approved(shop.project, shop.rita, "Ana owns the billing module", key="note:a")
    new = proposal(shop.project, "Ben owns the billing module", key="note:b")
    decision = new.approve(shop.rita, revision=new.revision, now=now, replaces=old)
    old.refresh_from_db()
    assert (old.status, old.superseded_by, old.valid_to) == (Status.SUPERSEDED, new, now)
    assert new.status == Status.APPROVED
    undoing.undo(membership(shop), decision, now)
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.status, old.superseded_by, old.valid_to) == (Status.APPROVED, None, None)
    assert new.status == Status.PROPOSED


def test_only_a_memory_about_the_same_subject_is_replaced(shop: Cast, now: datetime) -> None:
    old = approved(shop.project, shop.rita, about="customer:other")
    new = proposal(shop.project, "Prefers the phone.")
    with pytest.raises(NotAllowed, match="different subjects"):
        new.approve(shop.rita, revision=new.revision, now=now, replaces=old)
    assert Fact.objects.get(pk=new.pk).status == Status.PROPOSED


def test_a_replaced_value_says_until_when_it_held(shop: Cast, now: datetime) -> None:
    old = approved(shop.project, shop.rita, "Austin", key="account_detail:city", now=now - timedelta(days=9))
    new = proposal(shop.project, "Dallas", key="account_detail:city", valid_from=now - timedelta(days=2))
    decision = new.approve(shop.rita, revision=new.revision, now=now)
    old.refresh_from_db()
    assert (old.status, old.valid_to) == (Status.SUPERSEDED, now - timedelta(days=2))
    undoing.undo(membership(shop), decision, now)
    old.refresh_from_db()
    assert (old.status, old.valid_to) == (Status.APPROVED, None)


def test_an_older_value_of_an_agents_own_goes_behind_the_newer_one(shop: Cast, now: datetime) -> None:
    own = {"key": "customer_fact:city", "everyone": False, "agent_ids": [shop.support.pk]}
    new = approved(shop.project, shop.rita, "Dallas", valid_from=now - timedelta(days=1), **own)
    old = proposal(shop.project, "Austin", valid_from=now - timedelta(days=5), **own)
    old.approve(shop.rita, revision=old.revision, now=now)
    new.refresh_from_db()
    assert (old.status, old.superseded_by, new.status) == (Status.SUPERSEDED, new, Status.APPROVED)


def test_an_older_value_for_more_readers_than_the_newer_one_has_is_approved(shop: Cast, now: datetime) -> None:
    """Else those who have no newer one would be left with none."""
    key = "customer_fact:city"
    new = approved(
        shop.project,
        shop.rita,
        "Dallas",
        key=key,
        everyone=False,
        agent_ids=[shop.support.pk],
        valid_from=now - timedelta(days=1),
    )
    old = proposal(
        shop.project,
        "Austin",
        key=key,
        everyone=False,
        agent_ids=[shop.support.pk, shop.sales.pk],
        valid_from=now - timedelta(days=5),
    )
    old.approve(shop.rita, revision=old.revision, now=now)
    new.refresh_from_db()
    assert (old.status, new.status) == (Status.APPROVED, Status.SUPERSEDED)


# Merging -------------------------------------------------------------------------------------------------------------


def test_merging_carries_count_and_quotes_and_undo_takes_them_back(shop: Cast, now: datetime) -> None:
    heir = quoted(shop, "Prefers replies by e-mail", "call-1", key="note:a")
    twin = quoted(shop, "Wants to be answered via email", "call-2", key="note:b")
    shared = Evidence.objects.get(fact=twin).observation
    assert shared is not None
    # A quote that both have already stays one, also after the undo.
    Evidence.objects.copy(twin.pk, heir)
    more = factories.observation(shared.session, "By mail, please")
    Evidence.objects.create(
        project_id=shop.project.pk,
        fact=twin,
        observation=more,
        start=0,
        end=7,
        quote="By mail",
        sha256="0",
        checked_at=now,
    )
    twin.count_again(now)
    decision = twin.merge_into(heir, shop.rita, revision=twin.revision, now=now)
    heir.refresh_from_db()
    assert (heir.times_seen, heir.evidence.count()) == (3, 3)
    assert (twin.status, twin.superseded_by) == (Status.MERGED, heir)
    undoing.undo(membership(shop), decision, now)
    heir.refresh_from_db()
    twin.refresh_from_db()
    assert (heir.times_seen, heir.evidence.count()) == (1, 2)
    assert (twin.status, twin.superseded_by, twin.evidence.count()) == (Status.PROPOSED, None, 2)


@pytest.mark.parametrize("gone", ["reject", "remove"])
def test_nothing_is_merged_into_what_is_gone(shop: Cast, now: datetime, gone: str) -> None:
    heir = proposal(shop.project, "Prefers replies by e-mail", key="note:a")
    twin = proposal(shop.project, "Wants to be answered via email", key="note:b")
    getattr(heir, gone)(shop.rita, revision=heir.revision, now=now, reason="vague")
    with pytest.raises(NotAllowed, match="by now"):
        twin.merge_into(heir, shop.rita, revision=twin.revision, now=now)
    twin.refresh_from_db()
    assert twin.status == Status.PROPOSED


def test_a_memory_is_merged_into_another_of_its_own_subject_only(shop: Cast, now: datetime) -> None:
    twin = proposal(shop.project)
    for other in (twin, proposal(shop.project, about="customer:other")):
        with pytest.raises(NotAllowed, match="one subject"):
            twin.merge_into(other, shop.rita, revision=twin.revision, now=now)


def test_a_live_memory_is_not_merged_away(shop: Cast, now: datetime) -> None:
    live = approved(shop.project, shop.rita, "Prefers replies by e-mail", key="note:a")
    other = proposal(shop.project, "Wants to be answered via email", key="note:b")
    with pytest.raises(NotAllowed, match="cannot become"):
        live.merge_into(other, shop.rita, revision=live.revision, now=now)
    assert not Evidence.objects.filter(fact=other).exists()
