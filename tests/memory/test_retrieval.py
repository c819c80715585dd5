"""Looking up by key and searching by meaning: what is found, what must stay apart, and who may find it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory import embedding_store, embeddings, retrieval
from memory.models import Fact, FactEmbedding
from projects import tenancy
from tests.factories import Cast, approved, subject

pytestmark = pytest.mark.django_db
REPO = "repo:orders-api"


def known(shop: Cast, text: str, **fields: object) -> Fact:
    """A countersigned fact with its vector, as a decision leaves it."""
    fields.setdefault("about", REPO)
    fact = approved(shop.project, shop.rita, text, **fields)
    embedding_store.embed_facts([fact])
    return fact


def texts(hits: list[retrieval.Hit]) -> list[str]:
    return [hit.fact.text for hit in hits]


def keys(page: retrieval.Page) -> set[str]:
    return {fact.key for fact in page.facts}


# By key --------------------------------------------------------------------------------------------------------------

KEYS = (
    "user_preference:time",
    "user_preference:timezone",
    "user_preference:contact",
    "user_preference:contact.phone",
    "user_preference:contact.phone.home",
    "user_preference:contacts",
    "environment:a%b",
    "environment:aXb",
    "environment:file_name",
    "environment:filename",
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"key": "user_preference:time"}, {"user_preference:time"}),
        ({"key": "user_preference:TIME"}, set()),
        ({"key": "time"}, set()),
        ({"key": "user_preference:*"}, {key for key in KEYS if key.startswith("user_preference:")}),
        ({"key_prefix": "user_preference:*"}, {key for key in KEYS if key.startswith("user_preference:")}),
        ({"key_prefix": "user_preference:"}, {key for key in KEYS if key.startswith("user_preference:")}),
        ({"key_prefix": "user_preference"}, {key for key in KEYS if key.startswith("user_preference:")}),
        ({"key_prefix": "user_pref"}, set()),
        ({"key_prefix": "user_preference:time"}, {"user_preference:time"}),
        (
            {"key_prefix": "user_preference:contact"},
            {"user_preference:contact", "user_preference:contact.phone", "user_preference:contact.phone.home"},
        ),
        (
            {"key_prefix": "user_preference:contact.phone."},
            {"user_preference:contact.phone", "user_preference:contact.phone.home"},
        ),
        ({"key_prefix": "user_preference:contact.ph"}, set()),
        ({"key": "environment:a%b"}, {"environment:a%b"}),
        ({"key_prefix": "environment:a%"}, set()),
        ({"key_prefix": "environment:file_name"}, {"environment:file_name"}),
        ({"key": "environment:%"}, set()),
        ({"key": ""}, set()),
        ({"key": "a\x00b"}, set()),
        ({"key": "\ud800"}, set()),
    ],
)
def test_keys_are_matched_whole_or_by_whole_segments(
    shop: Cast, now: datetime, asked: dict[str, str], found: set[str]
) -> None:
    for key in KEYS:
        approved(shop.project, shop.rita, f"About {key}.", key=key)
    assert keys(retrieval.lookup(shop.support, now=now, limit=100, **asked)) == found


def test_a_lookup_keeps_to_its_subject(shop: Cast, now: datetime) -> None:
    for about in ("customer:nova", "customer:nova-labs", "customer:lee_ann", "customer:lee-ann"):
        approved(shop.project, shop.rita, f"Known about {about}.", about=about, key="account_detail:a")
    for about in ("customer:nova", "customer:lee_ann"):
        page = retrieval.lookup(shop.support, subject=subject(shop.project, about), key="account_detail:a", now=now)
        assert [fact.text for fact in page.facts] == [f"Known about {about}."]


def test_pages_show_every_fact_once_though_facts_come_and_go(shop: Cast, now: datetime) -> None:
    made = [
        approved(shop.project, shop.rita, f"Port {n} is taken.", about=REPO, key=f"fix:{n}", now=now) for n in range(25)
    ]
    seen: list[int] = []
    after = None
    while True:
        page = retrieval.lookup(shop.support, key="fix:*", limit=4, after=after, now=now)
        seen += [fact.pk for fact in page.facts]
        after = page.next_after
        if after is None:
            break
        if len(seen) == 8:
            approved(shop.project, shop.rita, "Port 99 is taken.", about=REPO, key="fix:99")
            made[20].remove(shop.rita, revision=made[20].revision, now=now)
    assert sorted(seen) == sorted(fact.pk for fact in made)


# By meaning and words ------------------------------------------------------------------------------------------------


def test_words_and_meaning_both_find(shop: Cast, now: datetime) -> None:
    known(shop, "The test database listens on port 5433.", key="environment:port")
    known(shop, "Deliveries arrive on Thursdays.", key="environment:lab")
    assert texts(retrieval.search(shop.support, "deliveries on Thursdays", now=now)) == [
        "Deliveries arrive on Thursdays."
    ]
    assert texts(retrieval.search(shop.support, "which port does Postgres use for tests", now=now))[0].endswith("5433.")


@pytest.mark.parametrize(
    ("fact", "query", "passes"),
    [
        # Nothing relevant.
        ("Ships to Tulsa.", "quarterly tax filing in Norway", False),
        ("Uses Postgres port 5433.", "quarterly tax filing in Norway", False),
        # One shared common word is not relevance.
        ("The customer ships to Tulsa.", "how does the customer file quarterly taxes in Norway", False),
        ("Run the tests with pytest -q.", "run the payroll export for March", False),
        ("The order service owns the table invoices.", "in what order do the apprentices start on Monday", False),
        ("Prefers e-mail, in the morning.", "book the meeting room for tomorrow morning in Lisbon", False),
        # A rare word that is asked for.
        ("Set TZ=UTC before running the checkout tests.", "checkout tests fail", True),
        ("Tomas works at Borealis Shipping.", "Borealis", True),
        ("Error E4012 means the licence is expired.", "E4012", True),
        # Part of a path, an address, a name with marks.
        ("Refunds are owned by services/refunds/app.py.", "who owns app.py", True),
        ("Lives in Europe/Berlin.", "Berlin", True),
        ("Needs the variable CHECKOUT_TZ.", "checkout tz", True),
        # Other words, same meaning.
        ("Prefers to be contacted by e-mail.", "how does this customer like to be reached by email", True),
        # Languages other than English.
        ("Bevorzugt Lieferung am Donnerstag.", "Lieferung Donnerstag", True),
        ("Prefiere recibir facturas en papel.", "facturas en papel", True),
        ("お客様は東京に住んでいます。", "お客様は東京に住んでいます", True),
    ],
)
def test_the_floor_is_on_relevance(shop: Cast, now: datetime, fact: str, query: str, passes: bool) -> None:
    for filler in FILLERS:
        known(shop, filler, key=f"fix:{filler[:12]}")
    known(shop, fact, key="note:x")
    found = texts(retrieval.search(shop.support, query, now=now))
    assert (fact in found) is passes


FILLERS = (
    "The customer pays by invoice.",
    "The customer asked for a new contract.",
    "Run make lint before a commit.",
    "Every order is written to the ledger.",
    "The morning batch takes two hours.",
)


def test_a_fact_without_a_vector_is_found_by_its_words(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Deliveries arrive on Thursdays.", about=REPO)
    (hit,) = retrieval.search(shop.support, "deliveries Thursdays", now=now)
    assert (hit.score, hit.why) == (1.0, "words")


def test_without_an_embedder_words_alone_decide(shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    known(shop, "Deliveries arrive on Thursdays.")

    def missing(texts: list[str]) -> list[list[float]]:
        raise embeddings.EmbedderUnavailable("gone")

    monkeypatch.setattr(embeddings, "embed", missing)
    assert len(retrieval.search(shop.support, "deliveries", now=now)) == 1
    assert retrieval.search(shop.support, "goods that come in the week", now=now) == []


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "the of and", "...", "🎉", "\x00", "& | ! :* ( )", "'", "\\"])
def test_a_query_without_a_word_finds_nothing_and_asks_no_embedder(
    shop: Cast, now: datetime, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(shop, "Deliveries arrive on Thursdays.")
    monkeypatch.setattr(embeddings, "embed", lambda texts: pytest.fail("The embedder was asked."))
    assert retrieval.search(shop.support, query, now=now) == []


@pytest.mark.parametrize(
    "query",
    [
        "deliveries & !thursdays | (",
        "deliveries' \\ :* <-> thursdays",
        "deliveries\x00thursdays",
        "deliveries 🎉 thursdays",
        "deliveries \ud800 thursdays",
        "deliveries thursdays " + "word " * 10_000,
        "deliveries %s {visible} %(x)s thursdays",
        "deliveries " + "x" * 5000,
    ],
)
def test_any_text_is_a_query(shop: Cast, now: datetime, query: str) -> None:
    known(shop, "Deliveries arrive on Thursdays.")
    assert len(retrieval.search(shop.support, query, min_score=0.0, now=now)) == 1


def test_an_old_vector_does_not_find_the_new_text(shop: Cast, now: datetime) -> None:
    fact = known(shop, "Tomas works at Fernhill Dairy.", key="customer_fact:employer")
    fact.edit(shop.rita, revision=fact.revision, now=now, text="Tomas works at Borealis Shipping.")
    assert retrieval.search(shop.support, "Fernhill Dairy milk", now=now) == []
    assert len(retrieval.search(shop.support, "Borealis Shipping", now=now)) == 1


@pytest.mark.parametrize("other", [{"model": "another"}, {"precision": "fp32"}])
def test_vectors_of_another_model_or_precision_are_not_compared(
    shop: Cast, now: datetime, other: dict[str, str]
) -> None:
    known(shop, "Deliveries arrive on Thursdays.")
    FactEmbedding.objects.update(**other)
    (hit,) = retrieval.search(shop.support, "deliveries of goods", min_score=0.0, now=now)
    assert hit.why == "words"


def test_filters_by_subject_and_type(shop: Cast, now: datetime) -> None:
    known(shop, "Deliveries arrive on Thursdays.", key="environment:lab")
    known(shop, "Wants deliveries on Fridays.", about="customer:a", key="user_preference:day")
    only = retrieval.search(shop.support, "deliveries", subject=subject(shop.project, "customer:a"), now=now)
    assert texts(only) == ["Wants deliveries on Fridays."]
    assert texts(retrieval.search(shop.support, "deliveries", types=["environment"], now=now)) == [
        "Deliveries arrive on Thursdays."
    ]


def test_a_score_does_not_betray_facts_the_agent_cannot_see(shop: Cast, now: datetime) -> None:
    known(shop, "Evaluates the ledger and the contract.", key="fix:a")
    before = retrieval.search(shop.sales, "ledger zenith", min_score=0.0, now=now)[0].score
    for number in range(5):
        known(
            shop,
            f"Zenith contract {number} is signed.",
            key=f"fix:z{number}",
            everyone=False,
            agent_ids=[shop.support.pk],
        )
    assert retrieval.search(shop.sales, "ledger zenith", min_score=0.0, now=now)[0].score == before


@pytest.mark.parametrize("min_score", [0.0, 0.3, 1.0])
def test_the_floor_cuts_what_is_less_relevant(shop: Cast, now: datetime, min_score: float) -> None:
    known(shop, "Deliveries arrive on Thursdays.", key="fix:a")
    known(shop, "Deliveries of paper are late.", key="fix:b")
    hits = retrieval.search(shop.support, "deliveries on Thursdays", min_score=min_score, now=now)
    assert all(hit.score >= min_score for hit in hits)
    assert texts(hits)[0] == "Deliveries arrive on Thursdays."


# Who finds what ------------------------------------------------------------------------------------------------------


def test_no_reading_finds_what_may_not_be_seen(shop: Cast, now: datetime) -> None:
    hidden = known(shop, "Evaluates ZENITH.", everyone=False, agent_ids=[shop.support.pk])
    expired = known(shop, "Evaluates ZENITH again.", key="user_preference:b", expires_at=now + timedelta(hours=1))
    later = now + timedelta(hours=1)
    for agent, at, found in (
        (shop.support, now, {hidden.pk, expired.pk}),
        (shop.sales, now, {expired.pk}),
        (shop.support, later, {hidden.pk}),
        (shop.sales, later, set()),
    ):
        by_words = {hit.fact.pk for hit in retrieval.search(agent, "ZENITH", now=at)}
        by_key = {fact.pk for fact in retrieval.lookup(agent, key="user_preference:*", now=at).facts}
        by_id = {pk for pk in (hidden.pk, expired.pk) if retrieval.visible(agent, pk, at)}
        assert by_words == by_key == by_id == found


def test_another_project_finds_nothing(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        fact = known(cast, "Deliveries arrive on Thursdays.")
    with tenancy.project(cast.other.pk):
        assert retrieval.search(cast.foreign, "deliveries", now=now) == []
        assert retrieval.lookup(cast.foreign, key="user_preference:*", now=now).facts == []
        assert retrieval.visible(cast.foreign, fact.pk, now) is None


def test_a_paused_agent_finds_nothing(shop: Cast, now: datetime) -> None:
    known(shop, "Deliveries arrive on Thursdays.")
    shop.support.pause(now)
    assert retrieval.search(shop.support, "deliveries", now=now) == []


# Priority ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        (("fix", "extraction", 1, 0, 0.9), ("fix", "extraction", 1, 0, 0.4)),
        (("fix", "manual", 1, 0, 0.5), ("fix", "extraction", 1, 0, 0.5)),
        (("fix", "extraction", 8, 0, 0.5), ("fix", "extraction", 1, 0, 0.5)),
        (("fix", "extraction", 1, 0, 0.5), ("fix", "extraction", 1, 60, 0.5)),
        # A preference does not fade, a mood does.
        (
            ("user_preference", "extraction", 1, 90, 0.5),
            ("sentiment", "extraction", 1, 14, 0.5),
        ),
    ],
)
def test_priority_weighs_relevance_confidence_recency_and_decay(higher: tuple, lower: tuple) -> None:  # type: ignore[type-arg]
    assert 1 >= retrieval.priority(*higher) > retrieval.priority(*lower) >= 0


def test_a_half_life_halves(shop: Cast) -> None:
    fresh = retrieval.priority("sentiment", "manual", 1, 0, 1.0)
    faded = retrieval.priority("sentiment", "manual", 1, 14, 1.0)
    assert faded < fresh / 2


def test_a_search_takes_three_queries(shop: Cast, now: datetime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(12):
        known(shop, f"Delivery {number} arrives on Thursdays.", key=f"fix:{number}")
    with django_assert_num_queries(3):
        assert len(retrieval.search(shop.support, "deliveries", limit=10, now=now)) == 10
