"""A planted card in the pile as a list: a line like the others, told by its words where it was ticked with them."""

from __future__ import annotations

import re

import pytest

from memory.models import Fact
from projects import tenancy
from review.models import GoldAnswer
from tests.factories import Cast
from tests.review.test_desk import HTMX, signed_in
from tests.review.test_gold import _short, busy, make_due  # noqa: F401 (busy is a fixture)
from tests.review.test_gold_unseen import html, only, real, shape  # noqa: F401 (real is a fixture)

pytestmark = pytest.mark.django_db


def rows(page: str) -> list[str]:
    return re.findall(r'<li id="fact-(f-[0-9a-z]+)">(.*?)</li>', page, re.S)  # type: ignore[return-value]


@pytest.mark.parametrize(("flaw", "may_tick"), [("", True), ("negation", True), ("number", False)])
def test_the_list_has_it_in_front_as_its_words_would_be(
    busy: Cast,  # noqa: F811
    real: Fact,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    flaw: str,
    may_tick: bool,
) -> None:
    item = only(busy, flaw)
    make_due(busy, busy.rita, monkeypatch)
    page = html(signed_in(busy.rita).get("/p/shop/review?as=list"))
    listed = dict(rows(page))
    assert next(iter(listed)) == _short(item)
    assert len(listed) == 3
    assert set(shape(listed[_short(item)])) == set(shape(listed[real.short_id]))
    assert (" disabled" not in listed[_short(item)]) == may_tick, listed[_short(item)]
    assert ("Number in no quote" in listed[_short(item)]) == (flaw == "number")


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize(("flaw", "reason"), [("", ""), ("negation", ""), ("negation", "not_true")])
def test_ticked_with_others_it_is_told_by_its_words_and_the_others_are_decided(
    busy: Cast,  # noqa: F811
    real: Fact,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    flaw: str,
    reason: str,
    htmx: bool,
) -> None:
    item = only(busy, flaw)
    make_due(busy, busy.rita, monkeypatch)
    client = signed_in(busy.rita)
    body = {"fact": [f"{_short(item)}:1", f"{real.short_id}:{real.revision}"], **({"reason": reason} if reason else {})}
    page = html(client.post("/p/shop/review/list", body, headers=HTMX if htmx else {}, follow=not htmx))
    assert f"“{item.card['text']}” This one was planted" in page
    assert ("1 rejected" if reason else "1 approved") in page
    with tenancy.project(busy.project.pk):
        assert Fact.objects.get(pk=real.pk).status == ("rejected" if reason else "approved")
        said = GoldAnswer.objects.get(item=item)
        assert (said.verb, said.is_right) == ("reject" if reason else "approve", not flaw or bool(reason))


def test_a_forged_tick_on_one_that_cannot_be_ticked_is_no_answer(
    busy: Cast,  # noqa: F811
    real: Fact,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    item = only(busy, "number")
    make_due(busy, busy.rita, monkeypatch)
    body = {"fact": [f"{_short(item)}:1", f"{real.short_id}:{real.revision}"]}
    page = html(signed_in(busy.rita).post("/p/shop/review/list", body, headers=HTMX))
    assert "1 approved" in page
    assert "planted" not in page
    with tenancy.project(busy.project.pk):
        assert not GoldAnswer.objects.exists()


def test_ticked_alone_it_leaves_nothing_to_take_back(
    busy: Cast,  # noqa: F811
    real: Fact,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    item = only(busy, "")
    make_due(busy, busy.rita, monkeypatch)
    page = html(signed_in(busy.rita).post("/p/shop/review/list", {"fact": [f"{_short(item)}:1"]}, headers=HTMX))
    assert "This one was planted, and it holds" in page
    assert 'data-key="u"' not in page or 'data-key="u" disabled' in page
