"""A card asked for by its id: it comes, or the desk says what became of it. No form ever opens on another one."""

from __future__ import annotations

import pytest
from django.test import Client

from memory.models import Fact, Status
from tests.factories import Cast
from tests.review.test_desk import HTMX, again, decide, proposed, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(cast: Cast) -> tuple[Fact, Fact]:
    """Two that wait, with nothing in common."""
    return proposed(cast, "First."), proposed(cast, "Second.", key="user_preference:other")


def on_top(client: Client, fact: Fact, panel: str = "") -> str:
    address = f"/p/shop/review?card={fact.short_id}" + (f"&panel={panel}" if panel else "")
    return client.get(address, headers=HTMX).content.decode()


def test_a_memory_put_off_comes_when_it_is_asked_for(cast: Cast, pair: tuple[Fact, Fact]) -> None:
    first, second = pair
    client = signed_in(cast.rita)
    decide(client, first, "put_off")
    assert f'id="fact-{second.short_id}"' in client.get("/p/shop/review").content.decode()
    assert f'id="fact-{first.short_id}"' in on_top(client, first)
    assert decide(client, again(cast, first), "approve").status_code == 200
    assert again(cast, first).status == Status.APPROVED


@pytest.mark.parametrize("panel", ["edit", "reject", "scope"])
def test_no_form_opens_on_the_next_card_when_this_one_was_decided(
    cast: Cast, pair: tuple[Fact, Fact], panel: str
) -> None:
    first, second = pair
    decide(signed_in(cast.rita), first, "approve")
    answer = signed_in(cast.olga).get(f"/p/shop/review?card={first.short_id}&panel={panel}", headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Rita" in page
    assert "First." in page
    assert f'id="fact-{second.short_id}"' not in page


def test_words_typed_for_a_decided_card_never_stand_in_another(cast: Cast, pair: tuple[Fact, Fact]) -> None:
    first, second = pair
    decide(signed_in(cast.rita), first, "approve")
    too_long = "typed " * 500
    answer = decide(signed_in(cast.olga), again(cast, first), "edit", text=too_long)
    assert answer.status_code == 409
    assert f'id="fact-{second.short_id}"' not in answer.content.decode()
    assert again(cast, second).text == "Second."


def test_an_address_kept_after_the_decision_leads_to_the_memory(cast: Cast, pair: tuple[Fact, Fact]) -> None:
    first, _ = pair
    client = signed_in(cast.rita)
    decide(client, first, "approve")
    answer = client.get(f"/p/shop/review?card={first.short_id}")
    assert (answer.status_code, answer["Location"]) == (302, f"/facts/{first.short_id}")


def test_an_id_that_is_no_card_of_this_project_is_the_pile_as_ever(cast: Cast, pair: tuple[Fact, Fact]) -> None:
    client = signed_in(cast.rita)
    for wanted in ("f-000000", "nonsense", ""):
        answer = client.get(f"/p/shop/review?card={wanted}")
        assert answer.status_code == 200
        assert f'id="fact-{pair[0].short_id}"' in answer.content.decode()
