"""What is shut on its own card is shut wherever else it is shown, and nothing gets past it in a form."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from memory.models import Evidence, Fact, Relation, Status
from projects import tenancy
from projects.models import AuditEvent
from tests import factories
from tests.factories import Cast
from tests.review.test_clusters import SAID, chain, tick
from tests.review.test_kinds import HTMX, signed_in

pytestmark = pytest.mark.django_db

NUMBER = "+49 170 5550123"
TEXT = f"Sarah is called on {NUMBER} in the evening."
QUOTE = f"Do call me on {NUMBER}, after six."
FOUND = {
    "category": "contact",
    "rule": "phone",
    "start": TEXT.index(NUMBER),
    "end": TEXT.index(NUMBER) + len(NUMBER),
    "confidence": 0.9,
    "in": "text",
}


def personal(cast: Cast, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        said = factories.observation(factories.session(cast.support, f"call-{fields.get('key', '')}"), QUOTE)
        return factories.proposal(
            cast.project, TEXT, **{"key": "fix:phone", "quote": said, "findings": [FOUND], **fields}
        )


def shows_it(page: str) -> bool:
    return NUMBER in page or "5550123" in page


def html(answer: Any) -> str:
    return answer.content.decode()


def decide(cast: Cast, who: str, fact: Fact, verb: str, **form: Any) -> Any:
    body = {"verb": verb, "revision": fact.revision, **form}
    return signed_in(getattr(cast, who)).post(f"/facts/{fact.short_id}/decisions", body, headers=HTMX)


# The list ------------------------------------------------------------------------------------------------------------


def test_a_line_of_the_list_shows_neither_quote_nor_what_is_personal(cast: Cast) -> None:
    personal(cast)
    with tenancy.project(cast.project.pk):
        plain = factories.observation(factories.session(cast.support, "plain"), "Make seed first, I tell you.")
        factories.proposal(cast.project, "Run make seed first.", key="fix:seed", quote=plain)
    page = html(signed_in(cast.rita).get("/p/shop/review?as=list"))
    assert "Sarah is called on" in page
    assert "Personal data" in page
    assert not shows_it(page)
    assert "after six" not in page
    assert "Make seed first, I tell you." in page, "of what is not risky the quote stands there"


# Near-duplicates -----------------------------------------------------------------------------------------------------


def flagged_chain(cast: Cast, now: datetime) -> list[Fact]:
    """Three that say the same, and a fourth that waits shut beside them."""
    facts = chain(cast, now, SAID[:3])
    shut = personal(cast, about=str(facts[0].subject), related=facts[2], relation=Relation.SAME_THING)
    return [*facts, shut]


def test_a_flagged_line_says_nothing_aloud_either_and_leads_to_its_own_card(cast: Cast, now: datetime) -> None:
    facts = flagged_chain(cast, now)
    client = signed_in(cast.rita)
    page = html(client.get(f"/p/shop/review?card={facts[0].short_id}"))
    assert "Ticked lines become this one memory" in page
    assert "Sarah is called on" in page
    assert not shows_it(page)
    assert "after six" not in page
    assert f'href="/p/shop/review?card={facts[3].short_id}"' in page
    own = html(client.get(f"/p/shop/review?card={facts[3].short_id}"))
    assert "Ticked lines" not in own
    assert "Open the quote" in own
    assert not shows_it(own)
    assert shows_it(html(client.get(f"/p/shop/review?card={facts[3].short_id}&proof=open")))


def test_where_nothing_can_be_ticked_each_is_a_card_of_its_own(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now, SAID[:3])
    with tenancy.project(cast.project.pk):
        Fact.objects.filter(pk__in=[fact.pk for fact in facts[1:]]).update(findings=[{"category": "contact"}])
    client = signed_in(cast.rita)
    for fact in facts:
        assert "Ticked lines" not in html(client.get(f"/p/shop/review?card={fact.short_id}"))


@pytest.mark.parametrize("how", ["as_one", "merge", "each"])
def test_a_forged_tick_approves_and_counts_nothing_that_was_never_opened(cast: Cast, now: datetime, how: str) -> None:
    facts = flagged_chain(cast, now)
    body = {"how": how, "kept": tick(facts[0]), "tick": [tick(fact) for fact in facts[1:]], "opened": "1"}
    said = signed_in(cast.rita).post(f"/facts/{facts[0].short_id}/cluster", body, headers=HTMX)
    assert said.status_code == 200
    assert "1 skipped: 1 flagged" in html(said)
    assert state(cast, facts[3]) == Status.PROPOSED
    with tenancy.project(cast.project.pk):
        quotes = Evidence.objects.filter(fact=facts[0]).values_list("quote", flat=True)
        assert QUOTE not in list(quotes)


@pytest.mark.parametrize("how", ["as_one", "merge", "each"])
def test_a_flagged_one_is_not_kept_by_a_forged_form(cast: Cast, now: datetime, how: str) -> None:
    facts = flagged_chain(cast, now)
    body = {"how": how, "kept": tick(facts[3]), "tick": [tick(facts[2])]}
    signed_in(cast.rita).post(f"/facts/{facts[0].short_id}/cluster", body, headers=HTMX)
    assert state(cast, facts[3]) == Status.PROPOSED


def test_a_quote_that_is_not_in_its_source_is_counted_nowhere(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now, SAID[:3])
    with tenancy.project(cast.project.pk):
        Evidence.objects.filter(fact=facts[2]).update(quote="Nobody said so.")
    body = {"how": "merge", "kept": tick(facts[0]), "tick": [tick(fact) for fact in facts[1:]]}
    said = signed_in(cast.rita).post(f"/facts/{facts[0].short_id}/cluster", body, headers=HTMX)
    assert "1 merged, 1 skipped: 1 its quote is not in its source" in html(said)
    assert state(cast, facts[2]) == Status.PROPOSED


def state(cast: Cast, fact: Fact) -> str:
    with tenancy.project(cast.project.pk):
        return Fact.objects.get(pk=fact.pk).status


def test_beside_a_pair_the_other_one_is_as_shut_as_on_its_card(cast: Cast) -> None:
    shut = personal(cast)
    with tenancy.project(cast.project.pk):
        said = factories.observation(factories.session(cast.support, "pair"), "Call Sarah in the evening.")
        plain = factories.proposal(
            cast.project,
            "Sarah is called in the evening.",
            key="fix:evening",
            quote=said,
            related=shut,
            relation=Relation.SAME_THING,
        )
    page = html(signed_in(cast.rita).get(f"/p/shop/review?card={plain.short_id}"))
    assert "What is known already" in page
    assert "Sarah is called on" in page
    assert not shows_it(page)


# Who was second ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["approve", "edit", "reject"])
def test_who_was_second_reads_no_quote_that_they_had_not_opened(cast: Cast, first: str) -> None:
    fact = personal(cast)
    form: dict[str, Any] = {"opened": "1"}
    if first == "edit":
        form |= {"text": f"Sarah is called on {NUMBER} at noon.", "lives": "on", "no_end": "1"}
    if first == "reject":
        form |= {"reason": "vague"}
    assert decide(cast, "olga", fact, first, **form).status_code == 200
    answer = decide(cast, "rita", fact, "reject", reason="vague")
    page = html(answer)
    assert answer.status_code == 409
    assert "Olga decided this card" in page
    assert not shows_it(page)
    assert "after six" not in page
    assert "You had not opened it, so it is shut here as well." in page
    target = re.search(r'href="([^"]*)" data-key="o"', page)
    assert target is not None
    opened = html(signed_in(cast.rita).get(target[1].replace("&amp;", "&")))
    assert "after six" in opened
    with tenancy.project(cast.project.pk):
        trail = AuditEvent.objects.filter(action__in=["fact.open", "fact.reveal"], actor_id=cast.rita.pk)
        assert [event.object_ids for event in trail] == [[fact.pk]]


def test_who_had_opened_it_reads_it_there_too(cast: Cast) -> None:
    fact = personal(cast)
    assert decide(cast, "olga", fact, "reject", reason="vague").status_code == 200
    page = html(decide(cast, "rita", fact, "approve", opened="1"))
    assert "Olga decided this card" in page
    assert "after six" in page
    assert "so it is shut here" not in page
