"""Answers that no card offers: forged verbs, memories of others, what moved meanwhile, and undoing in any order."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memory.models import Decision, Fact, NotAllowed, Relation, Status
from memory.models.fact_row import FactChanged
from projects import tenancy
from projects.models import Person
from review.deciding import undoing
from review.deciding.answers import ANSWERS
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
VERBS = tuple(ANSWERS)


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def post(client: Client, fact: Fact, verb: str, **data: Any) -> int:
    body = {"verb": verb, "revision": fact.revision, **data}
    return client.post(f"/facts/{fact.short_id}/decisions", body, headers=HTMX).status_code


def states(cast: Cast) -> list[tuple[int, str, int]]:
    with tenancy.project(cast.project.pk):
        return list(Fact.objects.order_by("pk").values_list("pk", "status", "revision"))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("beside", ["", "0", "1", "-1", "1e3", "9" * 30, "x", "\u0661"])
def test_an_answer_about_nothing_changes_nothing(cast: Cast, verb: str, beside: str) -> None:
    with tenancy.project(cast.project.pk):
        alone = factories.proposal(cast.project, "Stands alone.", key="customer_fact:a", value="a")
    before = states(cast)
    assert post(signed_in(cast.rita), alone, verb, beside=beside) in (409, 422)
    assert states(cast) == before


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("gone", ["rejected", "removed", "itself"])
def test_an_answer_about_what_is_gone_changes_nothing(cast: Cast, now: Any, verb: str, gone: str) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.proposal(cast.project, "Pays within 30 days.", key="customer_fact:a", value="30")
        if gone == "rejected":
            known.reject(cast.rita, revision=known.revision, now=now, reason="vague")
        elif gone == "removed":
            known.approve(cast.rita, revision=known.revision, now=now)
            known.remove(cast.rita, revision=known.revision, now=now)
        newer = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:b",
            value="45",
            relation=Relation.CONFLICTS,
            related=known,
        )
        if gone == "itself":
            Fact.objects.filter(pk=newer.pk).update(related=newer)
            known = newer
    before = states(cast)
    assert post(signed_in(cast.rita), newer, verb, beside=known.revision) in (409, 422)
    assert states(cast) == before


@pytest.mark.parametrize("verb", ["same", "keep_first", "keep_second", "keep_both", "keep_neither"])
def test_a_memory_of_another_subject_is_never_answered_about(cast: Cast, verb: str) -> None:
    with tenancy.project(cast.project.pk):
        other = factories.subject(cast.project, "customer:cust_other")
        known = factories.approved(cast.project, cast.rita, "Pays within 30 days.", key="customer_fact:a", value="30")
        newer = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:b",
            value="45",
            relation=Relation.CONFLICTS,
            related=known,
        )
        Fact.objects.filter(pk=known.pk).update(subject=other)
    before = states(cast)
    assert post(signed_in(cast.rita), newer, verb, beside=known.revision) in (409, 422)
    assert states(cast) == before


@pytest.mark.parametrize("verb", [*VERBS, "approve", "reject", "propose", "create", "undo", "__class__", "", "\x00"])
def test_who_only_looks_answers_nothing(cast: Cast, verb: str) -> None:
    with tenancy.project(cast.project.pk):
        alone = factories.proposal(cast.project, "Stands alone.", key="customer_fact:a", value="a")
    before = states(cast)
    assert post(signed_in(cast.vera), alone, verb, beside=1) in (403, 404)
    assert states(cast) == before


def test_both_of_one_key_are_never_said_to_be_kept(cast: Cast) -> None:
    """A key that holds one value holds one: whoever keeps both would find one of them replaced."""
    with tenancy.project(cast.project.pk):
        first = factories.proposal(cast.project, "Pays within 30 days.", key="customer_fact:terms", value="30")
        second = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:terms",
            value="45",
            relation=Relation.CONFLICTS,
            related=first,
        )
    client = signed_in(cast.rita)
    page = client.get(f"/p/shop/review?card={second.short_id}").content.decode()
    status = post(client, second, "keep_both", beside=first.revision)
    after = {status for _, status, _ in states(cast)}
    assert (status, after) in [(200, {Status.APPROVED}), (422, {Status.PROPOSED})]
    assert ("keep_both" in page) == (status == 200)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("verb", ["keep_first", "keep_second", "keep_both", "keep_neither", "same"])
def test_undone_in_any_order_all_is_as_it_was_or_refused_whole(
    cast: Cast, now: Any, verb: str, order: tuple[int, ...]
) -> None:
    client = signed_in(cast.rita)
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, "Pays within 30 days.", key="customer_fact:a", value="30")
        newer = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:b",
            value="45",
            relation=Relation.CONFLICTS,
            related=known,
        )
        beside = known.revision
    first = post(client, newer, "edit", text="Pays within 45 days of the bill.", beside=beside)
    with tenancy.project(cast.project.pk):
        newer.refresh_from_db()
    assert (first, post(client, newer, verb, beside=beside)) == (200, 200)
    with tenancy.project(cast.project.pk):
        third = factories.proposal(cast.project, "Pays by card.", key="customer_fact:c", value="card")
    assert post(client, third, "approve") == 200
    with tenancy.project(cast.project.pk):
        made = list(Decision.objects.filter(person=cast.rita, at__gte=now - timedelta(days=3_650)).order_by("-pk"))
        acts: list[Decision] = []
        for one in made:
            if one.batch not in {act.batch for act in acts}:
                acts.append(one)
        acts = acts[:3]
    refused = 0
    for place in order * 2:
        try:
            with tenancy.project(cast.project.pk), transaction.atomic():
                membership = cast.rita.memberships.get(project=cast.project)
                undoing.undo(membership, Decision.objects.get(pk=acts[place].pk), now)
        except (FactChanged, NotAllowed):
            refused += 1
    # Each can be undone once, the latest first without a refusal; a second time there is nothing to take back.
    assert refused == 3 if order == (0, 1, 2) else refused >= 3
    with tenancy.project(cast.project.pk):
        found = [Fact.objects.get(pk=one.pk) for one in (known, newer, third)]
        assert [one.status for one in found] == [Status.APPROVED, Status.PROPOSED, Status.PROPOSED]
        assert found[0].times_seen == 1


def test_what_an_approval_replaces_is_what_was_seen(cast: Cast, now: Any) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, "Pays within 30 days.", key="customer_fact:a", value="30")
        newer = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:b",
            value="45",
            relation=Relation.CHANGES,
            related=known,
        )
        seen = known.revision
    client = signed_in(cast.rita)
    page = client.get(f"/p/shop/review?card={newer.short_id}").content.decode()
    assert f'name="beside" value="{seen}"' in page
    with tenancy.project(cast.project.pk):
        known.edit(cast.olga, revision=seen, now=now, text="Pays within 60 days.")
        moved = known.revision
    assert post(client, newer, "approve", beside=seen) == 409
    assert [status for _, status, _ in states(cast)] == [Status.APPROVED, Status.PROPOSED]
    assert post(client, newer, "approve", beside=moved) == 200
    assert [status for _, status, _ in states(cast)] == [Status.SUPERSEDED, Status.APPROVED]
