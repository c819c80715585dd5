"""Nothing loses its place, and nothing is let in, that was not on the screen of whoever pressed the key."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from memory.models import Fact, Status
from projects import tenancy
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
CITY = "customer_fact:city"


def waiting(cast: Cast, text: str, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.proposal(cast.project, text, **fields)


def live(cast: Cast, text: str, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.approved(cast.project, cast.olga, text, **fields)


def card_form(client: Client, fact: Fact) -> dict[str, str]:
    """What the button that approves this card sends along."""
    page = client.get(f"/p/shop/review?card={fact.short_id}").content.decode()
    form = next(one for one in page.split("<form")[1:] if 'name="verb" value="approve"' in one)
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form.partition("</form>")[0]))


def send(client: Client, fact: Fact, form: dict[str, str], **more: str) -> Any:
    headers = {"HX-Request": "true"}
    return client.post(f"/facts/{fact.short_id}/decisions", {**form, **more}, headers=headers)


def states(cast: Cast) -> dict[str, str]:
    with tenancy.project(cast.project.pk):
        return dict(Fact.objects.values_list("text", "status"))


def test_a_value_that_was_approved_meanwhile_is_not_replaced_unseen(cast: Cast) -> None:
    mine = waiting(cast, "Lives in Oslo.", key=CITY)
    client = signed_in(cast.rita)
    form = card_form(client, mine)
    live(cast, "Lives in Rome.", key=CITY)
    answer = send(client, mine, form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "was not on your screen" in page
    assert "Rome" in page
    assert states(cast) == {"Lives in Oslo.": Status.PROPOSED, "Lives in Rome.": Status.APPROVED}
    # Now that both stand on the card, the same press decides.
    assert send(client, mine, card_form(client, mine)).status_code == 200
    assert states(cast) == {"Lives in Oslo.": Status.APPROVED, "Lives in Rome.": Status.SUPERSEDED}


def test_nor_one_whose_words_moved_meanwhile(cast: Cast) -> None:
    known = live(cast, "Lives in Rome.", key=CITY)
    mine = waiting(cast, "Lives in Oslo.", key=CITY)
    client = signed_in(cast.rita)
    form = card_form(client, mine)
    assert form["replaces"] == f"{known.short_id}.{known.revision}"
    with tenancy.project(cast.project.pk):
        known.edit(cast.olga, revision=known.revision, now=known.first_seen_at, text="Lives in Bergen.")
    assert send(client, mine, form).status_code == 422
    assert states(cast) == {"Lives in Oslo.": Status.PROPOSED, "Lives in Bergen.": Status.APPROVED}


def test_nor_one_that_another_type_leads_to(cast: Cast) -> None:
    live(cast, "Lives in Rome.", key="account_detail:city")
    mine = waiting(cast, "Lives in Oslo.", key=CITY)
    client = signed_in(cast.rita)
    form = card_form(client, mine)
    assert send(client, mine, form, type="account_detail", text=mine.text).status_code == 422
    assert states(cast) == {"Lives in Oslo.": Status.PROPOSED, "Lives in Rome.": Status.APPROVED}
