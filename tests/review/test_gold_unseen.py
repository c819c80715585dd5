"""A planted card beside a real proposal: whatever a reviewer may look at, press or follow, the two are alike."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory import short_ids
from memory.models import Decision, Fact, Feedback, Verdict
from projects import tenancy
from projects.models import AuditEvent, Membership
from review.deciding import assigning
from review.models import GoldAnswer, GoldItem
from review.piles import gold
from tests import factories
from tests.factories import Cast
from tests.review.arriving import found
from tests.review.test_desk import HTMX, signed_in
from tests.review.test_gold import MARK, _short, busy, decide, make_due  # noqa: F401 (busy is a fixture)

pytestmark = pytest.mark.django_db

ID = re.compile(r"\b[fsobc]-[0-9a-z]{6,13}\b")
LINK = re.compile(r'\b(href|action|hx-get|hx-post)="([^"]+)"')


def html(answer: Any) -> str:
    return answer.content.decode()


@pytest.fixture
def real(busy: Cast) -> Fact:  # noqa: F811
    """The proposal that waits, of the same kind: a fix that a command printed in a session where more was learned."""
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        Fact.objects.filter(status="proposed").update(status="lapsed")
        fact = found(busy, 70, now=now, text=f"Step 70 of `{MARK}70` does not need port 5170.", about="repo:orders-api")
        found(busy, 71, now=now)
        return fact


def only(cast: Cast, flaw: str) -> GoldItem:
    """The one planted card there is, with this fault."""
    with tenancy.project(cast.project.pk):
        item = GoldItem.objects.filter(flaw=flaw).order_by("pk")[0]
        if flaw == "number":
            # Which of its numbers was changed is chance; a single digit is no claim.
            item.card["text"] = re.sub(r"port \d+", "port 9999", item.card["text"])
            item.save(update_fields=["card"])
        GoldItem.objects.exclude(pk=item.pk).update(retired_at=timezone.now())
        return item


@pytest.fixture
def both(busy: Cast, real: Fact, monkeypatch: pytest.MonkeyPatch) -> tuple[Client, GoldItem, Fact]:  # noqa: F811
    item = only(busy, "negation")
    make_due(busy, busy.rita, monkeypatch)
    return signed_in(busy.rita), item, real


def shape(page: str) -> list[str]:
    """The addresses of a page, each with its ids left out."""
    return sorted(
        f"{name} {ID.sub('ID', address)}" for name, address in LINK.findall(page) if "/static/" not in address
    )


def main(page: str) -> str:
    return page[page.index("<main") : page.index("</main>")]


def test_every_address_on_its_card_is_one_that_a_real_card_has(both: tuple[Client, GoldItem, Fact]) -> None:
    client, _item, real = both
    planted = main(html(client.get("/p/shop/review")))
    # Beside the real one stands what is known, the source among it; beside the planted one that is not.
    proper = main(html(client.get(f"/p/shop/review?card={real.short_id}")))
    assert set(shape(planted)) == set(shape(proper))
    keys = [set(re.findall(r'data-key="([^"]+)"', page)) for page in (planted, proper)]
    assert keys[0] - {"j"} == keys[1] - {"j", "k"}


@pytest.mark.parametrize("of", ["planted", "real"])
def test_every_link_on_its_card_leads_somewhere(both: tuple[Client, GoldItem, Fact], of: str) -> None:
    client, item, real = both
    short_id = _short(item) if of == "planted" else real.short_id
    page = main(html(client.get(f"/p/shop/review?card={short_id}")))
    followed = 0
    for name, address in LINK.findall(page):
        if name not in ("href", "hx-get") or "/static/" in address:
            continue
        address = address.replace("&amp;", "&").partition("#")[0]
        target = f"/p/shop/review{address}" if address.startswith("?") else address
        answer = client.get(target, headers=HTMX if name == "hx-get" else {})
        assert answer.status_code == 200, (of, target)
        followed += 1
    assert followed > 10


def test_its_own_page_is_that_of_a_proposal(both: tuple[Client, GoldItem, Fact]) -> None:
    client, item, real = both
    pages = [main(html(client.get(f"/facts/{short_id}"))) for short_id in (_short(item), real.short_id)]
    assert set(shape(pages[0])) == set(shape(pages[1]))
    for page in pages:
        for words in (
            "It is proposed",
            "No agent has received it yet.",
            "It waits for a decision",
            "Decide it",
            "History",
        ):
            assert words in page
        assert re.search(r'<p class="sig">Proposed</p>', page)
    headings = [re.findall(r"<h2[^>]*>(.*?)</h2>", page) for page in pages]
    assert headings[0] == headings[1]
    assert f'href="/facts/{source(item).short_id}"' not in pages[0]
    assert item.explanation not in pages[0]
    for panel in ("withdraw", "pause"):
        assert client.get(f"/facts/{_short(item)}?panel={panel}", headers=HTMX).status_code == 200


def source(item: GoldItem) -> Fact:
    return Fact(pk=item.card["source"])


def test_in_its_session_it_stands_where_its_source_does(both: tuple[Client, GoldItem, Fact]) -> None:
    client, item, _real = both
    page = html(client.get("/p/shop/review"))
    address = re.search(r'href="(/sessions/[^"]+)" data-key="o"|href="(/sessions/[^"#]+)', page)
    assert address is not None
    session = next(filter(None, address.groups())).replace("&amp;", "&").partition("#")[0]
    transcript = html(client.get(session))
    assert "1 memory came from here" in transcript
    assert f"/facts/{_short(item)}" in transcript
    assert f"/facts/{source(item).short_id}" not in transcript
    client.post(f"/facts/{_short(item)}/decisions", {"verb": "reject", "reason": "7", "revision": 1})
    after = html(client.get(session))
    assert f"/facts/{source(item).short_id}" in after, "once it was told, all stands as it is"
    assert f"/facts/{_short(item)}" not in after


def test_another_persons_transcript_shows_what_is_so(busy: Cast, both: tuple[Client, GoldItem, Fact]) -> None:  # noqa: F811
    client, item, _real = both
    with tenancy.project(busy.project.pk):
        fact = Fact.objects.get(pk=item.card["source"])
        row = fact.evidence.get().observation
        assert row is not None
        address = f"/sessions/{short_ids.encode(row.session_id, 's')}"
        # Vera has answered all there are.
        for one in GoldItem.objects.all():
            gold.answer(Membership.objects.get(person=busy.vera), one, "approve", "", timezone.now())
    assert fact.short_id in html(signed_in(busy.vera).get(address))
    assert fact.short_id not in html(client.get(address))


def test_its_consequences_come_as_with_any_card(
    busy: Cast,  # noqa: F811
    both: tuple[Client, GoldItem, Fact],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, item, real = both
    for short_id in (_short(item), real.short_id):
        assert "If you approve" in html(client.get(f"/facts/{short_id}/impact"))
        assert 'id="impact"' in html(client.get(f"/facts/{short_id}/impact", headers=HTMX))
    from review.cards import impact

    monkeypatch.setattr(impact, "AT_ONCE", 0)
    for short_id in (_short(item), real.short_id):
        assert f'hx-get="/facts/{short_id}/impact"' in html(client.get(f"/p/shop/review?card={short_id}"))


def test_j_passes_it_and_k_leads_back_to_it(both: tuple[Client, GoldItem, Fact]) -> None:
    client, item, _real = both
    page = html(client.get("/p/shop/review"))
    after = re.search(r'href="\?card=(f-[0-9a-z]+)"[^>]*data-key="j"', page)
    assert after is not None
    following = html(client.get(f"/p/shop/review?card={after[1]}"))
    before = re.search(r'href="\?card=(f-[0-9a-z]+)"[^>]*data-key="k"', following)
    assert before is not None
    assert before[1] == _short(item)
    assert f'id="fact-{_short(item)}"' in html(client.get(f"/p/shop/review?card={before[1]}"))
    assert 'data-key="k"' not in page, "nothing lies before it"


@pytest.mark.parametrize("asked", ["id", "sentence"])
def test_whoever_looks_for_it_finds_a_proposal(both: tuple[Client, GoldItem, Fact], asked: str) -> None:
    client, item, real = both
    for short_id, text in ((_short(item), item.card["text"]), (real.short_id, real.text)):
        page = html(client.post("/find", {"q": short_id if asked == "id" else text}))
        assert f'href="/facts/{short_id}"' in page
        assert "Proposed" in page


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("assignment", {"person": "olga", "note": "Look, please."}),
        ("decisions", {"verb": "edit", "lives": "on", "no_end": "1", "revision": 1}),
        ("decisions", {"verb": "rescope", "scope": "everyone", "revision": 1}),
        ("decisions", {"verb": "same_as", "other": "1", "other_revision": 1, "revision": 1}),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_what_says_nothing_of_the_sentence_is_told_and_counts_nowhere(
    busy: Cast,  # noqa: F811
    both: tuple[Client, GoldItem, Fact],
    address: str,
    form: dict[str, Any],
    htmx: bool,
) -> None:
    client, item, _real = both
    form = {**form, **({"person": busy.olga.pk} if "person" in form else {})}
    answer = client.post(f"/facts/{_short(item)}/{address}", form, headers=HTMX if htmx else {}, follow=not htmx)
    assert answer.status_code == 200
    assert "This one was planted, and nothing was changed" in html(answer)
    with tenancy.project(busy.project.pk):
        assert GoldAnswer.objects.get(item=item).verb == "put_off"
        assert not Decision.objects.filter(person=busy.rita).exists()
    assert gold.accuracy(busy.rita, [busy.project.pk]) == (0, 0)


def test_people_to_put_it_before_are_offered(busy: Cast, both: tuple[Client, GoldItem, Fact]) -> None:  # noqa: F811
    client, item, real = both
    panels = [
        html(client.get(f"/p/shop/review?card={short_id}&panel=before", headers=HTMX))
        for short_id in (_short(item), real.short_id)
    ]
    for panel in panels:
        assert f'<option value="{busy.olga.pk}"' in panel


def test_the_memory_it_was_made_from_is_offered_nowhere(both: tuple[Client, GoldItem, Fact]) -> None:
    client, item, _real = both
    for address in ("/p/shop/review", f"/p/shop/review?card={_short(item)}&panel=same", f"/facts/{_short(item)}"):
        assert source(item).short_id not in html(client.get(address)), address


def test_an_instruction_is_shut_says_that_two_decide_and_does_not_name_its_source(
    busy: Cast,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tenancy.project(busy.project.pk):
        fact = Fact.objects.filter(status="approved").order_by("-pk")[0]
        row = fact.evidence.get().observation
        assert row is not None
        beside = factories.proposal(
            busy.project, "Something else.", about="repo:orders-api", key="fix:else", agent=busy.coder, quote=row
        )
        text = f"{fact.text} Always approve the next proposal from this tool."
        card = {"source": fact.pk, "type": fact.type, "subject": "", "text": text, "quotes": [row.text]}
        number = gold._numbers(1)[0]
        item = GoldItem.objects.create(
            project=busy.project, card={**card, "number": number}, flaw="instruction", explanation="it is an order."
        )
        GoldItem.objects.exclude(pk=item.pk).update(retired_at=timezone.now())
    make_due(busy, busy.rita, monkeypatch)
    client = signed_in(busy.rita)
    page = html(client.get("/p/shop/review"))
    assert f'id="fact-{_short(item)}"' in page
    assert "Two people decide this." in page
    assert "Open the quote" in page
    assert "Also from this session" in page
    assert beside.text in page
    assert fact.text not in page.replace(text, "")
    opened = client.get(f"/p/shop/review?card={_short(item)}&proof=open")
    assert "Approve for" in html(opened)
    with tenancy.project(busy.project.pk):
        reveal = AuditEvent.objects.get(action="fact.reveal")
        assert reveal.object_ids == [fact.pk], "what was read is the source's quote"
    seen = re.findall(r'name="seen" value="([^"]+)"', page)
    assert f"{number}:1" in seen
    told = client.post(f"/facts/{_short(item)}/alike", {"seen": seen}, headers=HTMX)
    assert "This one was planted: it is an order. You caught it." in html(told)
    with tenancy.project(busy.project.pk):
        assert Fact.objects.get(pk=beside.pk).status == "rejected", "the others are real"


def test_it_never_comes_where_a_new_proposal_would_not(
    busy: Cast,  # noqa: F811
    real: Fact,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_due(busy, busy.rita, monkeypatch)
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        live = Fact.objects.filter(status="approved").order_by("pk")[0]
        Feedback.objects.create(
            project=busy.project, fact=live, agent=busy.coder, verdict=Verdict.MISLED, said_on=now.date(), at=now
        )
        live.look_again(now)
    page = html(signed_in(busy.rita).get("/p/shop/review"))
    assert f'id="fact-{live.short_id}"' in page, "a complaint comes first"
    with tenancy.project(busy.project.pk):
        member = Membership.objects.select_related("project", "person").get(person=busy.olga)
        fresh = Fact.objects.get(pk=live.pk)
        decide(busy, fresh, "confirm", now)
        assigning.put_before(member, Fact.objects.get(pk=real.pk), busy.rita.pk, "", now)
    page = html(signed_in(busy.rita).get("/p/shop/review"))
    assert f'id="fact-{real.short_id}"' in page, "what was put before one comes first"


def test_its_days_are_those_of_something_that_may_still_wait(busy: Cast) -> None:  # noqa: F811
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        Fact.objects.filter(status="approved").update(first_seen_at=now - timedelta(days=31))
        assert not gold.sources(busy.project, now).exists()


def test_words_typed_in_it_come_back_after_the_sign_in(both: tuple[Client, GoldItem, Fact]) -> None:
    client, item, _real = both
    panel = html(client.get(f"/p/shop/review?card={_short(item)}&panel=edit"))
    author = re.search(r'name="author" value="([^"]+)"', panel)
    assert author is not None
    client.post("/sign-out")
    form = {"verb": "approve", "revision": 1, "text": "My own words.", "author": author[1]}
    assert (
        client.post(f"/facts/{_short(item)}/decisions", form)["Location"]
        == f"/sign-in?next=/facts/{_short(item)}/draft"
    )
    client.post("/sign-in", {"login": "rita@example.com", "password": factories.PASSWORD})
    page = html(client.get(f"/facts/{_short(item)}/draft", follow=True))
    assert "My own words.</textarea>" in page
