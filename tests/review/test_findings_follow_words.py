"""Personal data is looked for in the words that stand there now, not in those that stood there once."""

from __future__ import annotations

from datetime import datetime

import pytest

from memory.models import Fact
from review.cards.pieces import MASKED, masked
from review.cards.risk import risk_of
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
NUMBER = "+49 30 901820"


def dots(fact: Fact) -> str:
    return "".join(text for _mark, text in masked(fact.text, fact.findings, MASKED))


def test_what_an_edit_brings_in_is_found(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project, "Ana is called in the morning.")
    fact.edit(shop.rita, revision=fact.revision, now=now, text=f"Ana is called at {NUMBER}.", value="x")
    fact.refresh_from_db()
    assert [row["category"] for row in fact.findings] == ["contact"]
    assert dots(fact) == "Ana is called at +•• •• ••••••."
    risk = risk_of(fact)
    assert risk is not None
    assert risk.categories == ("contact",)


def test_what_an_edit_moves_stays_covered(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project, "Ana.")
    fact.edit(shop.rita, revision=fact.revision, now=now, text=f"Call {NUMBER}.")
    fact.edit(shop.rita, revision=fact.revision, now=now, text=f"In the morning one may call Ana at {NUMBER}.")
    fact.refresh_from_db()
    assert dots(fact) == "In the morning one may call Ana at +•• •• ••••••."


def test_what_an_edit_takes_out_is_gone_and_comes_back_with_undo(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project, "Ana.")
    fact.edit(shop.rita, revision=fact.revision, now=now, text=f"Call {NUMBER}.")
    found = fact.findings
    step = fact.edit(shop.rita, revision=fact.revision, now=now, text="Ana is called in the morning.")
    fact.refresh_from_db()
    assert (fact.findings, risk_of(fact)) == ([], None)
    fact.undo(step, shop.rita, now=now)
    fact.refresh_from_db()
    assert (fact.findings, dots(fact)) == (found, "Call +•• •• ••••••.")


def test_what_an_approval_edits_is_found_too(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project, "Ana is called in the morning.")
    fact.approve(shop.rita, revision=fact.revision, now=now, text=f"Call {NUMBER}.", value=f"Call {NUMBER}.")
    fact.refresh_from_db()
    assert [row["category"] for row in fact.findings] == ["contact"]


def test_what_only_the_quote_holds_is_still_said(shop: Cast, now: datetime) -> None:
    row = factories.observation(factories.session(shop.support), f"Call me at {NUMBER}.")
    fact = factories.proposal(shop.project, f"Call {NUMBER}.", quote=row)
    fact.edit(shop.rita, revision=fact.revision, now=now, text="Is called in the morning.", value="called")
    assert [(one["category"], one["in"], one["end"]) for one in fact.findings] == [("contact", "quote", 0)]
