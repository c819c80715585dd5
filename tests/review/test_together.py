"""Several people at one pile, through the browser's door: who is on a card, who was first, before whom it lies."""

from __future__ import annotations

import html
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory.models import Decision, Fact, Status, Verb
from projects import tenancy
from projects.models import Membership, Role
from review.models import Assignment, Lease, Notice
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import HTMX, again, decide, proposed, signed_in
from tests.review.test_second_person import ORDER

pytestmark = pytest.mark.django_db


def words(answer: Any) -> str:
    """What a person reads, on one line."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", answer.content.decode())))


def top(answer: Any) -> str:
    found = re.search(r'id="fact-([\w-]+)"', answer.content.decode())
    return found.group(1) if found else ""


# Who is on a card -----------------------------------------------------------------------------------------------------


def test_the_second_person_gets_another_card_and_is_told_who_is_on_the_first(cast: Cast) -> None:
    first, second = proposed(cast, "First."), proposed(cast, "Second.", key="user_preference:other")
    mine = top(signed_in(cast.rita).get("/p/shop/review"))
    olga = signed_in(cast.olga)
    theirs = top(olga.get("/p/shop/review"))
    assert {mine, theirs} == {first.short_id, second.short_id}
    asked = words(olga.get(f"/p/shop/review?card={mine}"))
    assert "Rita is on this card." in asked
    assert "Rita is on this card." not in words(signed_in(cast.rita).get(f"/p/shop/review?card={mine}"))


def test_a_lease_never_blocks(cast: Cast) -> None:
    fact = proposed(cast)
    signed_in(cast.rita).get("/p/shop/review")
    assert decide(signed_in(cast.olga), fact, "approve").status_code == 200
    assert again(cast, fact).approved_by == cast.olga
    with tenancy.system("command"):
        assert not Lease.objects.exists()


def test_a_viewer_holds_no_card(cast: Cast) -> None:
    proposed(cast)
    signed_in(cast.vera).get("/p/shop/review")
    with tenancy.system("command"):
        assert not Lease.objects.exists()


def test_an_empty_desk_leaves_the_card_that_was_looked_at(cast: Cast) -> None:
    fact = proposed(cast)
    rita = signed_in(cast.rita)
    rita.get("/p/shop/review")
    decide(signed_in(cast.olga), fact, "reject", reason="vague")
    rita.get("/p/shop/review")
    with tenancy.system("command"):
        assert not Lease.objects.exists()


# Who was first --------------------------------------------------------------------------------------------------------


def test_the_second_of_two_sees_what_the_first_did_word_by_word(cast: Cast) -> None:
    fact = proposed(cast, "Sarah prefers e-mail.")
    decide(
        signed_in(cast.olga),
        fact,
        "approve",
        text="Sarah prefers e-mail, in the morning.",
        lives="on",
        expires_on="2027-05-18",
        scope="agents",
        agent=cast.support.pk,
    )
    answer = decide(signed_in(cast.rita), fact, "approve")
    assert answer.status_code == 409
    page, said = answer.content.decode(), words(answer)
    assert "<ins>e-mail, in the morning.</ins>" in page or "<ins>, in the morning" in page
    assert "Olga decided this card" in said
    assert "Countersigned" in said
    assert "in the morning" in said
    assert "Your approval was not counted." in said
    assert "no end" in said or "Lives until" in said
    assert "everyone" in said
    assert '<div class="line signed"><span>Olga</span></div>' in page
    assert again(cast, fact).approved_by == cast.olga


@pytest.mark.parametrize(
    ("verb", "form", "says"),
    [
        ("approve", {}, "Your approval was not counted."),
        ("edit", {"text": "My words."}, "Your edit was not counted."),
        ("reject", {"reason": "vague"}, "Your rejection was not counted."),
        ("rescope", {"scope": "agents", "agent": "support"}, "Your change of who sees it was not counted."),
        ("put_off", {"until": "tomorrow"}, "Putting it off was not counted."),
        ("remove", {}, "Your withdrawal was not counted."),
        ("confirm", {}, "Your confirmation was not counted."),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_whatever_the_second_did_is_named_and_nothing_of_it_happens(
    cast: Cast, verb: str, form: dict[str, str], says: str, htmx: bool
) -> None:
    fact = proposed(cast)
    decide(signed_in(cast.olga), fact, "reject", reason="not_true")
    before = again(cast, fact).revision
    if form.get("agent"):
        form = {**form, "agent": str(cast.support.pk)}
    answer = decide(signed_in(cast.rita), fact, verb, htmx=htmx, **form)
    assert answer.status_code == 409
    assert says in words(answer)
    assert "Rejected, not true." in words(answer)
    assert again(cast, fact).revision == before


def test_several_steps_since_are_told_as_one_change(cast: Cast) -> None:
    fact = proposed(cast, "Sarah prefers e-mail.")
    olga = signed_in(cast.olga)
    decide(olga, fact, "edit", text="Sarah prefers a letter.")
    decide(olga, again(cast, fact), "approve", text="Sarah prefers a short letter.")
    page = decide(signed_in(cast.rita), fact, "approve").content.decode()
    assert "<del>e-mail</del>" in page
    assert "As you saw it" in page
    assert "<ins>a short letter</ins>" in page


@pytest.mark.parametrize(
    ("theirs", "opens"),
    [("edit", "/p/shop/review?card={id}&amp;panel=edit"), ("approve", "/facts/{id}?panel=edit"), ("reject", "")],
)
def test_what_was_typed_stands_beside_and_can_be_put_in(cast: Cast, theirs: str, opens: str) -> None:
    fact = proposed(cast, "Sarah prefers e-mail.")
    rita = signed_in(cast.rita)
    form = rita.get(f"/p/shop/review?card={fact.short_id}&panel=edit").content.decode()
    author = re.search(r'name="author" value="([^"]+)"', form)
    assert author
    other = {"edit": {"text": "Sarah wants letters."}, "reject": {"reason": "vague"}}.get(theirs, {})
    decide(signed_in(cast.olga), fact, theirs, **other)
    mine = "Sarah prefers e-mail in the evening."
    answer = decide(rita, fact, "approve", text=mine, author=html.unescape(author.group(1)))
    assert answer.status_code == 409
    assert mine in words(answer)
    if opens:
        target = opens.format(id=fact.short_id)
        assert f'href="{target}"' in answer.content.decode()
        opened = rita.get(html.unescape(target))
        page = html.unescape(opened.content.decode())
        assert mine in page
        assert page.count('name="text"') == 1  # a second field would take words that no form sends
    else:
        assert "Put my words in" not in words(answer)
        assert "Reopen it, and Edit holds your words" in words(answer)


def test_the_second_reopens_the_card_for_both(cast: Cast) -> None:
    fact = proposed(cast)
    decide(signed_in(cast.olga), fact, "reject", reason="vague")
    rita = signed_in(cast.rita)
    page = decide(rita, fact, "approve").content.decode()
    reopen = re.search(r'action="(/decisions/\d+/undo)"', page)
    assert reopen
    answer = rita.post(reopen.group(1), headers=HTMX)
    assert answer.status_code == 200
    assert top(answer) == fact.short_id
    assert again(cast, fact).status == Status.PROPOSED


def test_the_next_card_is_not_held_by_whoever_reads_what_the_other_did(cast: Cast) -> None:
    fact = proposed(cast, "First.")
    proposed(cast, "Second.", key="user_preference:other")
    decide(signed_in(cast.olga), fact, "approve")
    with tenancy.system("command"):
        Lease.objects.all().delete()
    decide(signed_in(cast.rita), fact, "approve")
    with tenancy.system("command"):
        assert not Lease.objects.exists()


# Before whom it lies --------------------------------------------------------------------------------------------------


def put(client: Any, fact: Fact, person: Any, note: str = "", htmx: bool = True) -> Any:
    body = {"person": person.pk if hasattr(person, "pk") else person, "note": note}
    return client.post(f"/facts/{fact.short_id}/assignment", body, headers=HTMX if htmx else {})


def test_a_card_put_before_somebody_comes_first_with_the_note(cast: Cast) -> None:
    proposed(cast, "First.", times_seen=9)
    last = proposed(cast, "Last.", key="user_preference:other")
    rita = signed_in(cast.rita)
    assert "Put before" in words(rita.get(f"/p/shop/review?card={last.short_id}&panel=before"))
    answer = put(rita, last, cast.olga, "Is <b>this</b> ours?")
    assert answer.status_code == 200
    assert "Put before Olga." in answer.content.decode()
    assert top(answer) != last.short_id
    page = signed_in(cast.olga).get("/p/shop/review")
    assert top(page) == last.short_id
    assert "Rita put this before you: Is <b>this</b> ours?" in words(page)
    assert "With Olga: " in words(rita.get(f"/p/shop/review?card={last.short_id}"))
    with tenancy.system("command"):
        assert Notice.objects.get(kind="assignment").person == cast.olga
    assert decide(rita, last, "approve").status_code == 200


def test_it_is_taken_back(cast: Cast) -> None:
    fact = proposed(cast)
    rita = signed_in(cast.rita)
    put(rita, fact, cast.olga, htmx=False)
    answer = rita.post(f"/facts/{fact.short_id}/assignment/end", headers=HTMX)
    assert top(answer) == fact.short_id
    assert "With Olga" not in words(answer)
    with tenancy.system("command"):
        assert not Assignment.objects.exists()


@pytest.mark.parametrize("whom", ["vera", "sam", "nobody", "9" * 30, ""])
def test_whom_it_cannot_be_put_before_is_said_and_the_note_stays(cast: Cast, whom: str) -> None:
    fact = proposed(cast)
    answer = put(signed_in(cast.rita), fact, getattr(cast, whom, whom), "A long note.")
    assert answer.status_code == 422
    assert "Choose somebody of the project who can review." in words(answer)
    assert 'value="A long note."' in answer.content.decode()


@pytest.mark.parametrize("who", ["vera", "sam"])
def test_who_cannot_review_cannot_put_it_before_anybody(cast: Cast, who: str) -> None:
    fact = proposed(cast)
    person = signed_in(getattr(cast, who))
    assert put(person, fact, cast.olga).status_code in (403, 404)
    assert person.post(f"/facts/{fact.short_id}/assignment/end").status_code in (403, 404)
    assert signed_in(cast.rita).get(f"/facts/{fact.short_id}/assignment").status_code == 405


# Two people -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def order(cast: Cast) -> Fact:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, "call-order")
        got = factories.observation(session, ORDER, kind="tool_result", role="tool", tool="WebFetch")
        return factories.proposal(cast.project, ORDER, quote=got, agent=cast.support)


def test_the_card_says_that_two_people_decide_and_who_said_yes(cast: Cast, order: Fact) -> None:
    rita, olga = signed_in(cast.rita), signed_in(cast.olga)
    assert "Two people decide this." in words(rita.get(f"/p/shop/review?card={order.short_id}"))
    answer = decide(rita, order, "approve", opened="1")
    assert "First yes: a second person decides." in answer.content.decode()
    assert top(answer) == ""
    assert "You said yes at" in words(rita.get(f"/p/shop/review?card={order.short_id}"))
    page = olga.get("/p/shop/review")
    assert top(page) == order.short_id
    assert "Rita said yes at" in words(page)
    refused = decide(rita, again(cast, order), "approve", opened="1")
    assert refused.status_code == 422
    assert "A second person decides; undo takes your yes back." in words(refused)
    decide(olga, again(cast, order), "approve", opened="1")
    assert again(cast, order).status == Status.APPROVED


def test_undo_takes_the_first_yes_back(cast: Cast, order: Fact) -> None:
    rita = signed_in(cast.rita)
    decide(rita, order, "approve", opened="1")
    answer = rita.post("/p/shop/review/undo", headers=HTMX)
    assert top(answer) == order.short_id
    assert again(cast, order).first_yes_by is None


def test_the_only_reviewer_is_told_to_invite_somebody(cast: Cast, order: Fact) -> None:
    with tenancy.system("command"):
        Membership.objects.filter(person=cast.rita).update(role=Role.VIEWER)
    page = words(signed_in(cast.olga).get(f"/p/shop/review?card={order.short_id}"))
    assert "Nobody else can review in Shop: invite somebody." in page


def test_the_second_yes_of_an_open_old_card_is_told_of_the_first(cast: Cast, order: Fact) -> None:
    decide(signed_in(cast.rita), order, "approve", opened="1")
    answer = decide(signed_in(cast.olga), order, "approve", opened="1")
    assert answer.status_code == 409
    assert "Rita decided this card" in words(answer)
    assert "First yes." in words(answer)
    with tenancy.system("command"):
        assert Decision.objects.filter(fact=order, verb=Verb.APPROVE).count() == 0


# What it costs --------------------------------------------------------------------------------------------------------


def test_showing_a_card_again_writes_nothing(cast: Cast) -> None:
    proposed(cast)
    rita = signed_in(cast.rita)
    rita.get("/p/shop/review")
    with CaptureQueriesContext(connections["default"]) as seen:
        rita.get("/p/shop/review")
    writes = re.compile(r"^\s*(?:INSERT|UPDATE|DELETE)|INSERT INTO review_lease")
    assert not [one["sql"] for one in seen.captured_queries if writes.search(one["sql"])]


def test_the_lease_ends_by_the_clock(cast: Cast, now: datetime) -> None:
    fact = proposed(cast)
    signed_in(cast.rita).get("/p/shop/review")
    with tenancy.system("command"):
        Lease.objects.update(until=now - timedelta(seconds=1))
    assert "Rita is on this card" not in words(signed_in(cast.olga).get(f"/p/shop/review?card={fact.short_id}"))
    with tenancy.system("command"):
        assert Lease.objects.get().person == cast.olga
