"""Nothing typed is lost: signed out in the middle of an edit, a page too old to be counted, a refused edit."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from memory import short_ids
from memory.models import Fact, Status
from projects import tenancy
from review.pages import drafts
from tests import factories
from tests.factories import PASSWORD, Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
WORDS = "Write to her in the evening, <b>never</b> at noon."
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/shop/review"}


def signed_in(cast: Cast, person: str = "rita", **options: Any) -> Client:
    client = Client(**options)
    client.force_login(getattr(cast, person), backend=BACKEND)
    return client


def html(answer: Any) -> str:
    return answer.content.decode()


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return found.group(1)


def edit_form(client: Client, fact: Fact) -> dict[str, str]:
    """The fields of the edit panel as a browser sends them, with other words."""
    page = html(client.get(f"/p/shop/review?card={fact.short_id}&panel=edit"))
    hidden = {name: field(page, name) for name in ("revision", "author")}
    return hidden | {"verb": "approve", "text": WORDS, "lives": "on", "expires_on": "2031-05-04", "type": "fix"}


def decide(client: Client, fact: Fact, form: dict[str, str], htmx: bool = True) -> Any:
    return client.post(f"/facts/{fact.short_id}/decisions", form, headers=HTMX if htmx else {})


def sign_in_again(client: Client, next_page: str, person: str = "rita") -> Any:
    form = {"login": f"{person}@example.com", "password": PASSWORD, "next": next_page}
    return client.post("/sign-in", form, follow=True)


def holds_the_words(page: str) -> bool:
    return "Write to her in the evening, &lt;b&gt;never&lt;/b&gt; at noon.</textarea>" in page


@pytest.mark.parametrize("htmx", [True, False])
def test_who_is_signed_out_in_the_middle_of_an_edit_finds_the_words_again(cast: Cast, htmx: bool) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast)
    form = edit_form(client, fact)
    client.post("/sign-out")
    answer = decide(client, fact, form, htmx)
    draft = f"/facts/{fact.short_id}/draft"
    target = answer["HX-Redirect"] if htmx else answer["Location"]
    assert target == f"/sign-in?next={draft}"
    assert Fact.objects.get(pk=fact.pk).status == Status.PROPOSED
    door = html(client.get(target))
    assert "What you typed is kept and comes back." in door
    assert "in the evening" not in door
    page = html(sign_in_again(client, draft))
    assert holds_the_words(page)
    assert "They were not counted yet." in page
    assert 'name="expires_on" form="edit" value="2031-05-04"' in page
    assert '<option value="fix" selected>' in page
    # Counted at last, they are kept no longer.
    form = edit_form(client, fact)
    decide(client, fact, form)
    assert Fact.objects.get(pk=fact.pk).text == WORDS
    assert drafts.SESSION_KEY not in client.session or not client.session[drafts.SESSION_KEY]


def test_the_reason_in_words_is_kept_as_well(cast: Cast) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast)
    author = field(html(client.get(f"/p/shop/review?card={fact.short_id}&panel=note")), "author")
    client.post("/sign-out")
    form = {"verb": "reject", "reason": "other", "revision": str(fact.revision), "author": author, "note": "a joke"}
    assert "draft" in decide(client, fact, form)["HX-Redirect"]
    page = html(sign_in_again(client, f"/facts/{fact.short_id}/draft"))
    assert re.search(r'id="note" name="note" [^>]*value="a joke"', page)


def test_another_person_at_the_same_browser_is_not_shown_them(cast: Cast) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast)
    form = edit_form(client, fact)
    client.post("/sign-out")
    decide(client, fact, form)
    page = html(sign_in_again(client, f"/facts/{fact.short_id}/draft", "olga"))
    assert "in the evening" not in page
    assert "in the evening" not in html(client.get(f"/p/shop/review?card={fact.short_id}&panel=edit"))


@pytest.mark.parametrize("author", ["", "forged", None])
def test_a_stranger_cannot_make_a_browser_keep_words(cast: Cast, author: str | None) -> None:
    fact = factories.proposal(cast.project)
    form = {"verb": "edit", "text": WORDS, "revision": "1"} | ({} if author is None else {"author": author})
    client = Client()
    answer = decide(client, fact, form, htmx=False)
    assert answer["Location"] == "/sign-in?next=/"
    assert drafts.SESSION_KEY not in client.session


def test_words_are_kept_for_an_hour_and_five_at_most(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [factories.proposal(cast.project, f"Fact {number}.", key=f"note:{number}") for number in range(7)]
    client = signed_in(cast)
    forms = [edit_form(client, fact) for fact in facts]
    client.post("/sign-out")
    for fact, form in zip(facts, forms, strict=True):
        decide(client, fact, form)
    assert list(client.session[drafts.SESSION_KEY]) == [str(fact.pk) for fact in facts[2:]]
    assert client.session.get_expiry_age() <= drafts.KEPT_SECONDS
    sign_in_again(client, "/")
    last = f"/p/shop/review?card={facts[6].short_id}&panel=edit"
    assert holds_the_words(html(client.get(last)))
    later = time.time() + drafts.KEPT_SECONDS + 1
    monkeypatch.setattr(drafts.time, "time", lambda: later)
    assert not holds_the_words(html(client.get(last)))


@pytest.mark.parametrize("htmx", [True, False])
def test_a_form_from_before_this_sign_in_keeps_its_words(cast: Cast, htmx: bool) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast, enforce_csrf_checks=True)
    form = edit_form(client, fact) | {"csrfmiddlewaretoken": "x" * 64}
    answer = decide(client, fact, form, htmx)
    draft = f"/facts/{fact.short_id}/draft"
    if htmx:
        assert (answer.status_code, answer["HX-Redirect"]) == (200, draft)
    else:
        assert answer.status_code == 403
        assert f'href="{draft}"' in html(answer)
    assert Fact.objects.get(pk=fact.pk).status == Status.PROPOSED
    assert holds_the_words(html(client.get(draft, follow=True)))


def test_a_press_on_a_page_too_old_leads_to_a_fresh_one(cast: Cast) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast, enforce_csrf_checks=True)
    answer = decide(client, fact, {"verb": "approve", "revision": str(fact.revision)})
    assert (answer.status_code, answer["HX-Redirect"]) == (200, "/p/shop/review")
    assert "It is fresh now: do it again." in html(client.get("/p/shop/review"))
    client.logout()
    answer = decide(client, fact, {"verb": "approve", "revision": str(fact.revision)})
    assert answer["HX-Redirect"] == "/sign-in?next=/p/shop/review"


def test_the_way_back_is_whole_where_it_has_several_parts(cast: Cast) -> None:
    answer = Client().get(
        "/p/shop/review", headers=HTMX | {"HX-Current-URL": "http://testserver/p/shop/review?card=f-1&panel=edit"}
    )
    assert answer["HX-Redirect"] == "/sign-in?next=/p/shop/review%3Fcard%3Df-1%26panel%3Dedit"


@pytest.mark.parametrize("htmx", [True, False])
def test_a_refused_edit_on_a_memorys_own_page_keeps_the_words(cast: Cast, htmx: bool) -> None:
    fact = factories.approved(cast.project, cast.olga)
    client = signed_in(cast)
    page = html(client.get(f"/facts/{fact.short_id}"))
    form = {"verb": "edit", "back": "fact", "author": field(page, "author"), "revision": str(fact.revision)}
    answer = decide(client, fact, form | {"text": WORDS, "lives": "on", "expires_on": "2026-02-30"}, htmx)
    target = answer["HX-Redirect"] if htmx else answer["Location"]
    assert target == f"/facts/{fact.short_id}?panel=edit"
    page = html(client.get(target))
    assert holds_the_words(page)
    assert "Choose its last day" in page
    assert "<details open>" in page
    assert 'value="2026-02-30"' in page


def test_a_refused_edit_on_the_desk_keeps_every_field(cast: Cast) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast)
    answer = decide(client, fact, edit_form(client, fact) | {"expires_on": "soon", "no_end": "", "use": "historical"})
    page = html(answer)
    assert answer.status_code == 422
    assert holds_the_words(page)
    assert '<option value="fix" selected>' in page
    assert '<option value="historical" selected>' in page


def test_who_was_second_can_open_the_card_again_with_their_words(cast: Cast) -> None:
    fact = factories.proposal(cast.project)
    client = signed_in(cast)
    form = edit_form(client, fact)
    fact.edit(cast.olga, revision=fact.revision, now=fact.first_seen_at, text="Write to her at noon.")
    assert decide(client, fact, form).status_code == 409
    assert holds_the_words(html(client.get(f"/facts/{fact.short_id}/draft", follow=True)))


# Forms that are a page by themselves ----------------------------------------------------------------------------------

NEW = "/p/shop/memory/new"


def form_page(cast: Cast, name: str) -> tuple[str, dict[str, Any], str]:
    """(the address of a form, what is typed in it, the address where it comes back)."""
    if name == "new":
        return NEW, {"text": WORDS, "subject": "customer:cust_7", "type": "fix", "key": "at", "agent": ["1"]}, NEW
    if name == "config":
        address = "/p/shop/agents/support/config"
        return address, {"content": '{"tone": "calm"}', "note": WORDS, "after": "0"}, address
    with tenancy.project(cast.project.pk):
        said = factories.observation(factories.session(cast.support), "Write to me in the evening.")
    o = short_ids.encode(said.pk, "o")
    address = f"/sessions/{short_ids.encode(said.session_id, 's')}/remember"
    return address, {"text": WORDS, "quote": "in the evening", "type": "fix", "o": o}, f"{address}?o={o}"


def begun(client: Client, address: str) -> dict[str, str]:
    return {"author": field(html(client.get(address)), "author")}


@pytest.mark.parametrize("name", ["new", "remember", "config"])
def test_what_was_typed_in_a_form_comes_back_after_the_sign_in(cast: Cast, name: str) -> None:
    address, typed, back = form_page(cast, name)
    client = signed_in(cast, "olga")
    form = typed | begun(client, back)
    client.post("/sign-out")
    answer = client.post(address, form)
    assert answer["Location"] == f"/sign-in?next={back.replace('?', '%3F').replace('=', '%3D')}"
    assert "What you typed is kept and comes back." in html(client.get(answer["Location"]))
    page = html(sign_in_again(client, back, "olga"))
    assert "They were not counted yet." in page
    assert "&lt;b&gt;never&lt;/b&gt; at noon." in page
    if name == "new":
        assert 'value="customer:cust_7"' in page
        assert '<option value="fix" selected>' in page
    page = html(client.get(back))
    assert "&lt;b&gt;never&lt;/b&gt; at noon." in page, "a reload keeps them"
    assert "never" not in html(signed_in(cast, "rita").get(back))


def test_a_form_that_was_counted_begins_anew(cast: Cast) -> None:
    client = signed_in(cast, "olga")
    form = {"text": WORDS, "type": "nothing", **begun(client, NEW)}
    assert client.post(NEW, form).status_code == 422
    assert "&lt;b&gt;never" in html(client.get(NEW)), "refused, it is kept as well"
    assert client.post(NEW, form | {"type": "fix"}).status_code == 302
    assert "never" not in html(client.get(NEW))


def test_nobody_else_finds_what_was_typed_in_a_form(cast: Cast) -> None:
    client = signed_in(cast, "olga")
    form = {"text": WORDS, "type": "fix", **begun(client, NEW)}
    client.post("/sign-out")
    client.post(NEW, form)
    assert "never" not in html(sign_in_again(client, NEW, "rita"))


@pytest.mark.parametrize("typed", [{"text": WORDS}, {"text": WORDS, "author": "forged"}, {"text": " ", "author": ""}])
def test_a_form_of_a_stranger_is_kept_for_nobody(cast: Cast, typed: dict[str, str]) -> None:
    client = Client()
    assert client.post(NEW, typed)["Location"] == "/sign-in?next=/"
    assert drafts.SESSION_KEY not in client.session


def test_a_form_from_before_this_sign_in_is_kept_too(cast: Cast) -> None:
    client = signed_in(cast, "olga", enforce_csrf_checks=True)
    form = {"text": WORDS, "type": "fix", "csrfmiddlewaretoken": "x" * 64, **begun(client, NEW)}
    answer = client.post(NEW, form)
    assert answer.status_code == 403
    assert f'href="{NEW}"' in html(answer)
    assert "&lt;b&gt;never" in html(client.get(NEW))


def test_words_of_another_turn_are_not_put_into_this_one(cast: Cast) -> None:
    address, typed, back = form_page(cast, "remember")
    with tenancy.project(cast.project.pk):
        session = cast.support.sessions.get()
        other = short_ids.encode(factories.observation(session, "Thanks.").pk, "o")
    again = signed_in(cast, "olga")
    assert again.post(address, typed | {"type": "none"} | begun(again, back)).status_code == 422
    assert "&lt;b&gt;never" in html(again.get(back))
    assert "&lt;b&gt;never" not in html(again.get(f"{address}?o={other}"))


def test_what_nobody_came_back_for_is_deleted_from_a_session_that_goes_on(cast: Cast) -> None:
    client = signed_in(cast, "olga")
    assert client.post(NEW, {"text": WORDS, "type": "none", **begun(client, NEW)}).status_code == 422
    fact = factories.proposal(cast.project)
    other = signed_in(cast, "rita", enforce_csrf_checks=True)
    decide(other, fact, edit_form(other, fact) | {"csrfmiddlewaretoken": "x" * 64})
    now = timezone.now()
    assert drafts.forget(now + timedelta(minutes=59)) == 0
    assert drafts.forget(now + timedelta(minutes=61)) == 2
    assert drafts.forget(now + timedelta(minutes=61)) == 0
    for row in Session.objects.all():
        assert drafts.SESSION_KEY not in row.get_decoded()
        assert "evening" not in str(row.get_decoded())
    assert client.get(NEW).status_code == 200, "and they are still signed in"
