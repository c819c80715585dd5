"""Find anything: from what was pasted to the memory, live ones first, in one's own projects alone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory import brief, short_ids
from memory.models import BriefServed, Fact
from projects import tenancy
from projects.models import ApiKey, AuditEvent
from review.finding.asked import bare, folded
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
SAID = "Refunds above 200 EUR need a manager’s release – always."


def known(cast: Cast, text: str = SAID, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.approved(cast.project, cast.rita, text, **fields)


def waits(cast: Cast, text: str, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.proposal(cast.project, text, agent=cast.support, **fields)


def found(cast: Cast, pasted: str, who: str = "rita") -> str:
    answer = signed_in(getattr(cast, who)).post("/find", {"q": pasted})
    assert answer.status_code == 200
    return answer.content.decode()


def results(page: str) -> list[str]:
    """The addresses of the results, in order."""
    return re.findall(r'<a class="s" href="([^"]+)" data-result', page)


def at(fact: Fact) -> str:
    return f"/facts/{fact.short_id}"


@pytest.mark.parametrize(
    "pasted",
    [
        SAID,
        SAID.upper(),
        "refunds above 200 eur need a manager's release - always",
        "“Refunds above 200 EUR need a manager‘s release — always.”",
        "Refunds above 200 EUR\n   need a manager’s\n   release – always.",
        "- [ID] Refunds above 200 EUR need a manager’s release – always. (seen in 4 sessions)",
        "> - [ID] Refunds above 200 EUR need\n> a manager's release - always. (9 sessions)",
        "- [f-000000] Refunds above 200 EUR need a manager’s release – always. (seen in 4 sess",
        "above 200 EUR need a manager’s",
        "unds above 200 EUR need a manager’s rel",
        "Refunds above 200 EUR need a manager's release",
        "The agent told me: Refunds above 200 EUR need a manager’s release – always. That is wrong, is it not?",
        "ID",
        "[ID]",
        "see ID.",
        "200 eur refunds",
    ],
)
def test_a_memory_is_found_by_what_was_pasted_of_it(cast: Cast, pasted: str) -> None:
    known(cast, "Parcels need a label.", key="choice:label")
    fact = known(cast, key="choice:refunds")
    page = found(cast, pasted.replace("ID", fact.short_id))
    assert results(page)[0] == at(fact)
    assert page.count("autofocus") == 1


def test_the_first_result_has_the_focus_and_says_where_it_stands(cast: Cast, now: datetime) -> None:
    fact = known(cast)
    with tenancy.project(cast.project.pk):
        brief.serve(cast.support, subjects=[("customer", "cust_123")], max_tokens=500, now=now)
    page = found(cast, SAID)
    first = page[page.index('class="found"') :]
    assert re.search(rf'href="{at(fact)}" data-result autofocus>', first)
    for words in ("Approved", "goes to everyone", "in 1 brief", "cust_123"):
        assert words in first


def test_live_memories_come_first_whatever_their_number(cast: Cast, now: datetime) -> None:
    live = known(cast, "Refunds above 200 EUR need a manager’s release.", key="choice:a")
    ended = known(cast, "Refunds above 200 EUR need a manager.", key="choice:b")
    waiting = waits(cast, "Refunds above 200 EUR need a manager and a reason.", key="choice:c")
    with tenancy.project(cast.project.pk):
        ended.remove(cast.rita, revision=ended.revision, now=now)
        over = factories.approved(
            cast.project, cast.rita, "Refunds above 200 EUR need a manager in May.", key="choice:d"
        )
        Fact.objects.filter(pk=over.pk).update(expires_at=now - timedelta(minutes=1))
    addresses = results(found(cast, "Refunds above 200 EUR need a manager"))
    assert addresses[0] == at(live)
    assert set(addresses) == {at(live), at(ended), at(waiting), at(over)}


def test_one_word_off_reads_alike_and_never_comes_before_what_fits(cast: Cast) -> None:
    other = known(cast, "Refunds above 300 EUR need a manager’s release – always.", key="choice:a")
    page = found(cast, SAID)
    assert "Memories that read alike" in page
    assert results(page) == [at(other)]
    refused = waits(cast, SAID, key="choice:b")
    with tenancy.project(cast.project.pk):
        refused.reject(cast.rita, revision=refused.revision, now=refused.first_seen_at, reason="not_true")
    assert results(found(cast, SAID)) == [at(refused), at(other)]


def test_a_sentence_that_was_served_and_edited_since_is_found(cast: Cast, now: datetime) -> None:
    fact = known(cast)
    with tenancy.project(cast.project.pk):
        told = brief.serve(cast.support, subjects=[("customer", "cust_123")], max_tokens=500, now=now)
        fact.edit(cast.rita, revision=fact.revision, now=now, text="A manager signs large refunds.")
    line = next(line for line in told.text.split("\n") if "Refunds" in line)
    for pasted in (line, SAID, line.partition("] ")[2], "need a manager's release"):
        page = found(cast, pasted)
        assert results(page)[0] == at(fact), pasted
    assert "Was told as" in found(cast, SAID)


def test_a_memory_that_was_replaced_leads_to_the_live_one(cast: Cast, now: datetime) -> None:
    old = known(cast, "The office opens at nine.", key="choice:hours")
    with tenancy.project(cast.project.pk):
        new = factories.proposal(cast.project, "From May on it is ten.", key="choice:hours", agent=cast.support)
        new.approve(cast.rita, revision=new.revision, now=now, replaces=old)
    page = found(cast, "The office opens at nine.")
    assert results(page) == [at(new), at(old)]
    assert "Took the place of" in page


def test_a_line_that_only_a_brief_still_holds_leads_to_its_memory(cast: Cast, now: datetime) -> None:
    fact = known(cast, "A manager signs large refunds.")
    with tenancy.project(cast.project.pk):
        BriefServed.objects.create(
            project=cast.project,
            agent=cast.support,
            etag="0" * 64,
            fact_ids=[fact.pk],
            text=f"# What is known\n\n- [{fact.short_id}] Old words that nothing else keeps. (9 sessions)\n",
            tokens=9,
            budget=9,
            at=now,
        )
    page = found(cast, "old words that nothing else keeps")
    assert results(page) == [at(fact)]
    assert "Was told as" in page


@pytest.mark.parametrize(
    "text", ["この設定は本番環境では無効です。", "请在周一之前回复客户。", "يفضل العميل البريد الإلكتروني"]
)
def test_every_script_is_found_by_a_part(cast: Cast, text: str) -> None:
    fact = known(cast, text)
    assert results(found(cast, text)) == [at(fact)]
    assert results(found(cast, text[3:-4])) == [at(fact)]


@pytest.mark.parametrize("text", ["Uses C++ (17) & “quotes”; 100%_sure.", "!!!", "a:b | c & !d", "Don’t e–mail."])
def test_signs_are_looked_for_as_they_stand(cast: Cast, text: str) -> None:
    fact = known(cast, text)
    assert results(found(cast, text)) == [at(fact)]


def test_subjects_sessions_briefs_agents_and_keys_are_found(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        talk = factories.session(cast.support, "call-88213", now=now)
        subject = factories.subject(cast.project, "customer:cust_900")
        type(subject).objects.filter(pk=subject.pk).update(label="Sarah Chen")
        served = brief.serve(cast.support, max_tokens=500, now=now)
        prefix = ApiKey.objects.filter(agent=cast.support).get().prefix
    session_at, brief_at = (
        f"/sessions/{short_ids.encode(talk.pk, 's')}",
        f"/briefs/{short_ids.encode(served.served_pk or 0, 'b')}",
    )
    subject_at = f"/p/shop/subjects/{short_ids.encode(subject.pk, 'c')}"
    for pasted, address in (
        (subject_at.rpartition("/")[2], subject_at),
        ("call-88213", session_at),
        ("88213", session_at),
        (session_at.rpartition("/")[2], session_at),
        (brief_at.rpartition("/")[2], brief_at),
        (f"http://localhost:8000{brief_at}", brief_at),
        ("customer:CUST_900", subject_at),
        ("cust_900", subject_at),
        ("sarah ch", subject_at),
        ("Support", "/p/shop/agents"),
        (prefix, "/p/shop/agents"),
        (cast.keys["support"], "/p/shop/agents"),
    ):
        page = found(cast, pasted)
        assert address in results(page), pasted
        assert cast.keys["support"] not in page


def test_nobody_finds_what_they_may_not_see(cast: Cast, now: datetime) -> None:
    fact = known(cast)
    with tenancy.project(cast.project.pk):
        factories.session(cast.support, "call-88213", now=now)
        served = brief.serve(cast.support, subjects=[("customer", "cust_123")], max_tokens=500, now=now)
        fact.edit(cast.rita, revision=fact.revision, now=now, text="A manager signs large refunds.")
    for pasted in (
        *(SAID, "A manager signs large refunds.", fact.short_id, "call-88213", "cust_123", cast.keys["support"]),
        short_ids.encode(served.served_pk or 0, "b"),
    ):
        assert results(found(cast, pasted, "sam")) == [], pasted
        assert results(found(cast, pasted, "carl")) == [], pasted


def test_what_was_found_is_in_the_audit_and_what_was_asked_is_not(cast: Cast) -> None:
    fact = known(cast)
    found(cast, SAID)
    with tenancy.project(cast.project.pk):
        event = AuditEvent.objects.get(action="fact.find")
        assert (event.object_ids, event.actor_id) == ([fact.pk], cast.rita.pk)


def test_the_page_itself_and_a_miss_say_what_to_try(cast: Cast) -> None:
    client = signed_in(cast.rita)
    page = client.get("/find?q=Refunds").content.decode()
    assert "A line of a brief" in page
    assert "Refunds above 200 EUR need" in page
    assert 'value="Refunds"' not in page
    page = found(cast, "nothing that anybody knows")
    assert "Nothing you may see says that." in page
    assert 'value="nothing that anybody knows"' in page
    assert results(found(cast, "   ")) == []
    assert client.put("/find").status_code == 405


def test_what_was_pasted_costs_few_queries(cast: Cast) -> None:
    for number in range(30):
        known(cast, f"Refunds above {number} EUR need a manager’s release – always.", key=f"choice:k{number}")
    client = signed_in(cast.rita)
    client.get("/find")
    lines = "\n".join(
        f"- [{short_ids.encode(number + 1)}] Refunds above {number} EUR need a word." for number in range(8)
    )
    for pasted in (SAID, lines):
        with CaptureQueriesContext(connections["default"]) as seen:
            client.post("/find", {"q": pasted})
        assert len(seen) < 60, [query["sql"][:80] for query in seen.captured_queries]


def test_the_fold_of_a_line_is_its_own_fold(cast: Cast) -> None:
    assert bare(folded(bare(folded(SAID)))) == bare(folded(SAID))
