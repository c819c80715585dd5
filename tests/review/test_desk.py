"""The desk through the browser's door: one card, one decision, the next card; and the second of two people."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.http import HttpResponse
from django.test import Client

from memory.models import Decision, Fact, Status
from projects import tenancy
from projects.models import AuditEvent, Membership, Person
from review.deciding import decisions, undoing
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def proposed(cast: Cast, text: str = "Prefers e-mail, in the morning.", said: str = "Write to me.", **fields) -> Fact:
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, f"call-{text[:20]}")
        quote = factories.observation(session, said)
        return factories.proposal(cast.project, text, quote=quote, agent=cast.support, **fields)


def again(cast: Cast, fact: Fact) -> Fact:
    with tenancy.project(cast.project.pk):
        return Fact.objects.get(pk=fact.pk)


def without_nonces(answer: HttpResponse) -> str:
    """The page without what is fresh on each load: the script nonce and the CSRF token."""
    return re.sub(r'(nonce|value)="[\w+/=-]{16,}"|"X-CSRFToken": "\w+"', "", answer.content.decode())


def decide(client: Client, fact: Fact, verb: str, *, htmx: bool = True, revision: int | None = None, **data):
    body = {"verb": verb, "revision": revision or fact.revision, **data}
    return client.post(f"/facts/{fact.short_id}/decisions", body, headers=HTMX if htmx else {})


def test_the_pile_shows_the_sentence_the_quote_and_the_two_lines(cast: Cast) -> None:
    proposed(cast)
    page = signed_in(cast.rita).get("/p/shop/review").content.decode()
    for words in ("Prefers <u>e-mail</u>", "<mark>Write to me.</mark>", "Countersigned", "0 of 1"):
        assert words in page or words.replace("<u>", "").replace("</u>", "") in page


def test_a_decision_answers_with_the_next_card(cast: Cast) -> None:
    first, second = proposed(cast, "First."), proposed(cast, "Second.", key="user_preference:other")
    answer = decide(signed_in(cast.rita), first, "approve")
    assert answer.status_code == 200
    assert again(cast, first).status == Status.APPROVED
    assert f"fact-{second.short_id}" in answer.content.decode()
    assert "Approved. 1 left." in answer.content.decode()


def test_the_forms_work_without_javascript(cast: Cast) -> None:
    fact = proposed(cast)
    client = signed_in(cast.rita)
    answer = decide(client, fact, "reject", htmx=False, reason="not_true")
    assert (answer.status_code, answer["Location"]) == (302, "/p/shop/review")
    assert again(cast, fact).status == Status.REJECTED
    assert client.post("/p/shop/review/undo").status_code == 302
    assert again(cast, fact).status == Status.PROPOSED


@pytest.mark.parametrize("panel", ["edit", "reject", "scope"])
def test_every_panel_is_a_page_of_its_own(cast: Cast, panel: str) -> None:
    fact = proposed(cast)
    page = signed_in(cast.rita).get(f"/p/shop/review?card={fact.short_id}&panel={panel}")
    assert page.status_code == 200
    assert "Back" in page.content.decode()


def test_the_second_of_two_people_is_told_what_the_first_did(cast: Cast) -> None:
    fact = proposed(cast)
    seen = fact.revision
    assert decide(signed_in(cast.olga), fact, "approve", text="Prefers letters.").status_code == 200
    answer = decide(signed_in(cast.rita), fact, "approve", revision=seen)
    body = answer.content.decode()
    assert answer.status_code == 409
    assert "Olga decided this card" in body
    assert "<ins>letters</ins>." in body
    assert "Your approval was not counted." in body
    assert again(cast, fact).approved_by_id == cast.olga.pk


def test_edit_and_approve_in_one_step_keeps_what_was_typed(cast: Cast) -> None:
    fact = proposed(cast)
    last_day = (fact.first_seen_at + timedelta(days=30)).date().isoformat()
    decide(signed_in(cast.rita), fact, "approve", text="Prefers letters.", lives="on", expires_on=last_day)
    fact = again(cast, fact)
    assert (fact.status, fact.text) == (Status.APPROVED, "Prefers letters.")
    assert fact.expires_at is not None
    assert (fact.expires_at - timedelta(seconds=1)).date().isoformat() == last_day


def test_a_bad_form_comes_back_with_the_words_typed_and_the_reason(cast: Cast) -> None:
    fact = proposed(cast)
    answer = decide(signed_in(cast.rita), fact, "approve", text="Prefers letters.", lives="on", expires_on="soon")
    assert answer.status_code == 422
    assert "Prefers letters." in answer.content.decode()
    assert "Choose its last day" in answer.content.decode()
    assert again(cast, fact).status == Status.PROPOSED


@pytest.mark.parametrize(
    ("verb", "data", "words"),
    [
        ("reject", {}, "Say why"),
        ("reject", {"reason": "because"}, "Say why"),
        ("approve", {"text": "  "}, "Write one sentence"),
        ("rescope", {"scope": "agents"}, "Choose at least one agent"),
        ("rescope", {"scope": "agents", "agent": "999999"}, "Choose at least one agent"),
        ("countersign", {}, "no decision"),
    ],
)
def test_what_cannot_be_decided_says_why_and_changes_nothing(cast: Cast, verb: str, data: dict, words: str) -> None:
    fact = proposed(cast)
    answer = decide(signed_in(cast.rita), fact, verb, **data)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert again(cast, fact).revision == fact.revision


def test_who_sees_it_is_what_agents_get(cast: Cast, now: datetime) -> None:
    fact = proposed(cast)
    client = signed_in(cast.rita)
    decide(client, fact, "rescope", scope="agents", agent=[str(cast.sales.pk)])
    decide(client, again(cast, fact), "approve")
    with tenancy.project(cast.project.pk):
        assert list(Fact.objects.visible_to(cast.sales, now)) == [fact]
        assert not Fact.objects.visible_to(cast.support, now).exists()


def test_undo_puts_the_card_back_and_brings_the_old_value_back(cast: Cast) -> None:
    client = signed_in(cast.rita)
    old, new = proposed(cast, "Prefers e-mail.", value="e-mail"), None
    decide(client, old, "approve")
    new = proposed(cast, "Prefers the phone.", value="phone")
    assert "Changes" in client.get("/p/shop/review").content.decode()
    decide(client, new, "approve")
    assert again(cast, old).status == Status.SUPERSEDED
    answer = client.post("/p/shop/review/undo", headers=HTMX)
    assert f"fact-{new.short_id}" in answer.content.decode()
    assert (again(cast, old).status, again(cast, new).status) == (Status.APPROVED, Status.PROPOSED)


def test_a_viewer_looks_and_does_not_decide(cast: Cast) -> None:
    fact = proposed(cast)
    client = signed_in(cast.vera)
    assert client.get("/p/shop/review").status_code == 200
    assert decide(client, fact, "approve").status_code == 403
    assert again(cast, fact).status == Status.PROPOSED


def test_to_a_member_of_another_project_nothing_here_exists(cast: Cast) -> None:
    fact = proposed(cast)
    client = signed_in(cast.sam)
    unknown = client.get("/facts/f-zzzzzz")
    for address in ("/p/shop/review", "/p/shop/memory", f"/facts/{fact.short_id}", "/p/shop/sessions"):
        answer = client.get(address)
        assert answer.status_code == 404
    hidden = without_nonces(client.get(f"/facts/{fact.short_id}"))
    assert hidden.replace(fact.short_id, "f-zzzzzz") == without_nonces(unknown)
    assert decide(client, fact, "approve").status_code == 404


def test_no_key_decides(cast: Cast) -> None:
    fact = proposed(cast)
    answer = Client().post(
        f"/facts/{fact.short_id}/decisions",
        {"verb": "approve", "revision": fact.revision},
        headers={"Authorization": f"Bearer {cast.keys['support']}"},
    )
    assert answer.status_code == 302
    assert again(cast, fact).status == Status.PROPOSED


def test_a_quote_that_is_not_in_its_source_blocks_approval(cast: Cast) -> None:
    from memory.models import Observation

    fact = proposed(cast)
    with tenancy.project(cast.project.pk):
        Observation.objects.update(text="Something else was said.")
    page = signed_in(cast.rita).get("/p/shop/review").content.decode()
    assert "The quote is not in its source." in page
    assert decide(signed_in(cast.rita), fact, "approve").status_code == 422
    assert again(cast, fact).status == Status.PROPOSED


def test_hostile_text_stays_text(cast: Cast) -> None:
    hostile = "</bdi></div><button hx-post=/x hx-trigger=load>\u202e<script>alert(1)</script>"
    proposed(cast, hostile, said=hostile)
    page = signed_in(cast.rita).get("/p/shop/review").content.decode()
    assert "<script>alert" not in page
    assert "<button hx-post=/x" not in page
    assert "U+202E right-to-left override" in page


def test_every_decision_is_in_the_audit_with_ids_only(cast: Cast) -> None:
    fact = proposed(cast)
    decide(signed_in(cast.rita), fact, "approve")
    with tenancy.project(cast.project.pk):
        event = AuditEvent.objects.get(action="fact.approve")
    assert (event.actor_id, event.object_ids) == (cast.rita.pk, [fact.pk])


@pytest.mark.parametrize("count", [1, 12])
def test_the_pile_asks_the_same_number_of_queries_however_long_it_is(
    cast: Cast, count: int, django_assert_max_num_queries
) -> None:
    for number in range(count):
        proposed(cast, f"Number {number}.", key=f"user_preference:k{number}")
    client = signed_in(cast.rita)
    # Of them fourteen for the briefs of three agents, with and without the memory.
    with django_assert_max_num_queries(47):
        client.get("/p/shop/review")


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize(("verb", "most"), [("approve", 44), ("reject", 41), ("put_off", 40)])
def test_a_decision_with_the_next_card_asks_the_same_however_long_the_pile_is(
    cast: Cast, count: int, verb: str, most: int, django_assert_max_num_queries
) -> None:
    facts = [proposed(cast, f"Number {number}.", key=f"user_preference:k{number}") for number in range(count)]
    client = signed_in(cast.rita)
    client.get("/p/shop/review")
    # The transaction's own steps among them, five of which only a test has; what each answer does to briefs is asked
    # for afterwards.
    with django_assert_max_num_queries(most):
        answer = decide(client, facts[0], verb, reason="not_true", until="tomorrow")
    assert "Number 1." in answer.content.decode()


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("approve", {}),
        ("approve", {"text": "Prefers letters."}),
        ("edit", {"text": "Prefers letters."}),
        ("reject", {"reason": "not_true"}),
        ("rescope", {"everyone": False, "agent_ids": [0]}),
        ("put_off", {}),
        ("same_as", {"other": 0, "other_revision": 1}),
    ],
)
def test_what_was_decided_is_what_undo_would_take_back(
    shop: Cast, now: datetime, verb: str, form: dict[str, object]
) -> None:
    """The answer to a decision names it without asking for it again."""
    known = factories.approved(shop.project, shop.olga, "Prefers e-mail.")
    fact = factories.proposal(shop.project, "Prefers the phone.", value="phone")
    if verb == "rescope":
        form = {**form, "agent_ids": [shop.sales.pk]}
    if verb == "same_as":
        form = {"other": known.pk, "other_revision": known.revision}
    member = Membership.objects.get(project=shop.project, person=shop.rita)
    outcome = decisions.decide(member, fact, verb, fact.revision, dict(form), now)
    last = undoing.last_of(shop.rita, shop.project, now)
    assert last is not None
    assert (last.pk, last.fact.text) == (outcome.decision.pk, outcome.decision.fact.text)


def test_a_memory_has_its_page_with_history_and_undo(cast: Cast) -> None:
    fact = proposed(cast)
    client = signed_in(cast.rita)
    decide(client, fact, "approve")
    page = client.get(f"/facts/{fact.short_id}").content.decode()
    for words in ("Countersigned by Rita", "Who gets it", "Withdraw", "Undo"):
        assert words in page
    decide(client, again(cast, fact), "remove", htmx=False, back="fact")
    assert again(cast, fact).status == Status.REMOVED
    with tenancy.project(cast.project.pk):
        newest = Decision.objects.filter(fact=fact).order_by("-pk")[0]
    client.post(f"/decisions/{newest.pk}/undo", {"back": "fact"})
    assert again(cast, fact).status == Status.APPROVED


@pytest.mark.parametrize("htmx", [True, False])
def test_who_was_second_keeps_the_words_that_were_typed(cast: Cast, htmx: bool) -> None:
    fact = proposed(cast)
    decide(signed_in(cast.olga), fact, "edit", text="Prefers e-mail.")
    answer = decide(signed_in(cast.rita), fact, "edit", htmx=htmx, text="Prefers <b>letters</b>.")
    assert answer.status_code == 409
    # Beside what was done, word by word, and in the field that puts them in again.
    page = answer.content.decode()
    assert "<ins>&lt;b&gt;letters&lt;/b&gt;</ins>." in page
    assert "<b>letters" not in page
    assert again(cast, fact).text == "Prefers e-mail."


def test_the_memory_list_keeps_its_filters_in_the_address(cast: Cast) -> None:
    client = signed_in(cast.rita)
    for number in range(3):
        decide(client, proposed(cast, f"Likes colour {number}.", key=f"user_preference:c{number}"), "approve")
    page = client.get("/p/shop/memory?q=colour+1").content.decode()
    assert "Likes colour 1." in page
    assert "Likes colour 2." not in page
    assert "Likes colour" not in client.get("/p/shop/memory?agent=nobody&type=fix").content.decode()
    for odd in ("q=%00", "q=%25", "before=zzz", "subject=%E2%80%8B", "view=x", "q=" + "x" * 5000):
        assert client.get(f"/p/shop/memory?{odd}").status_code == 200


def test_a_memory_written_by_hand_is_countersigned_by_its_author(cast: Cast) -> None:
    client = signed_in(cast.rita)
    answer = client.post("/p/shop/memory/new", {"text": "Parcels to Jersey need a form.", "type": "note"})
    assert answer.status_code == 302
    assert "Parcels to Jersey need a form." in client.get("/p/shop/memory").content.decode()
    assert client.post("/p/shop/memory/new", {"text": "", "type": "note"}).status_code == 422


def test_a_transcript_marks_the_quotes_and_numbers_their_memories(cast: Cast) -> None:
    fact = proposed(cast)
    client = signed_in(cast.rita)
    page = client.get(f"/facts/{fact.short_id}").content.decode()
    address = page.split('href="/sessions/')[1].split('"')[0].split("#")[0]
    transcript = client.get(f"/sessions/{address}").content.decode()
    assert "<mark>Write to me.<a" in transcript
    assert "1 memory came from here" in transcript
    assert client.get("/p/shop/sessions").status_code == 200
    assert client.get("/p/shop/briefs").status_code == 200


def test_the_sessions_list_goes_on_below_its_last_line(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        # Two with the same last word: the id decides between them.
        for number in range(53):
            factories.session(cast.support, f"call-{number:02}", now=now - timedelta(minutes=number // 2))
    client = signed_in(cast.rita)
    first = client.get("/p/shop/sessions").content.decode()
    assert first.count("<tr>") == 51
    older = re.search(r'href="(\?before=[^"]+)"', first)
    assert older is not None
    second = client.get("/p/shop/sessions" + older.group(1).replace("&amp;", "&")).content.decode()
    shown = re.findall(r"call-\d\d", first) + re.findall(r"call-\d\d", second)
    assert sorted(shown) == sorted(f"call-{number:02}" for number in range(53))
