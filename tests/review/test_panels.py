"""What stands in place of the bar: a reason in words, later, the same thing."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from memory.models import Fact, Status
from projects.models import Person, Project
from review.cards.nearest import MOST, nearest
from review.pages import forms
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def rita(cast: Cast) -> Client:
    client = Client()
    client.force_login(cast.rita, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def html(answer: Any) -> str:
    return answer.content.decode()


def decide(client: Client, fact: Fact, verb: str, **fields: Any) -> Any:
    form = {"verb": verb, "revision": fact.revision, **fields}
    return client.post(f"/facts/{fact.short_id}/decisions", form, headers=HTMX)


def panel(client: Client, fact: Fact, name: str, **more: str) -> str:
    return html(client.get("/p/shop/review", {"card": fact.short_id, "panel": name, **more}, headers=HTMX))


def test_something_else_is_a_reason_only_in_words(cast: Cast, rita: Client) -> None:
    fact = factories.proposal(cast.project)
    assert re.search(r'panel=note"[^>]* data-key="0"', panel(rita, fact, "reject"))
    assert 'name="note"' in panel(rita, fact, "note")
    for note in ("", "   "):
        answer = decide(rita, fact, "reject", reason="other", note=note)
        assert answer.status_code == 422
        assert "Say in a few words why." in html(answer)
        assert 'id="note" name="note"' in html(answer)
    assert decide(rita, fact, "reject", reason="other", note="said as a joke").status_code == 200
    fact.refresh_from_db()
    assert fact.status == Status.REJECTED
    assert fact.decisions.latest("pk").note == "said as a joke"


@pytest.mark.parametrize(
    ("zone", "choice", "starts"),
    [
        ("UTC", {"until": "tomorrow"}, "2026-11-15T00:00+00:00"),
        ("UTC", {"until": "week"}, "2026-11-21T00:00+00:00"),
        ("UTC", {"until": "month"}, "2026-12-14T00:00+00:00"),
        ("UTC", {"until": "day", "on": "2027-01-31"}, "2027-01-31T00:00+00:00"),
        # It is the 15th in Auckland already.
        ("Pacific/Auckland", {"until": "tomorrow"}, "2026-11-16T00:00+13:00"),
        ("America/Los_Angeles", {"until": "tomorrow"}, "2026-11-15T00:00-08:00"),
        ("America/Los_Angeles", {"until": "day", "on": "2027-07-01"}, "2027-07-01T00:00-07:00"),
    ],
)
def test_later_is_the_start_of_a_day_where_the_reader_is(zone: str, choice: dict[str, str], starts: str) -> None:
    now = datetime(2026, 11, 14, 20, 0, tzinfo=UTC)
    with timezone.override(ZoneInfo(zone)):
        until = forms._until(choice["until"], choice.get("on", ""), now)
    assert until.isoformat(timespec="minutes") == starts


def test_a_month_after_the_last_of_january_is_the_last_of_february() -> None:
    days = {
        day.isoformat()
        for _, name, _, day in forms.later_days(datetime(2027, 1, 31, 12, tzinfo=UTC))
        if name == "month"
    }
    assert days == {"2027-02-28"}
    [december] = [
        day for _, name, _, day in forms.later_days(datetime(2026, 12, 31, 12, tzinfo=UTC)) if name == "month"
    ]
    assert december.isoformat() == "2027-01-31"


@pytest.mark.parametrize("on", ["", "soon", "2026-02-30", "2020-01-01", "2999-01-01", "today"])
def test_a_day_that_cannot_be_is_refused_where_it_was_typed(cast: Cast, rita: Client, on: str) -> None:
    fact = factories.proposal(cast.project)
    on = timezone.now().date().isoformat() if on == "today" else on
    answer = decide(rita, fact, "put_off", until="day", on=on)
    assert answer.status_code == 422
    assert "Choose a day from tomorrow on" in html(answer)
    assert re.search(rf'id="on" name="on"[^>]* value="{on}"', html(answer))


def test_a_person_without_a_zone_reads_in_that_of_the_project(cast: Cast, rita: Client) -> None:
    Person.objects.filter(pk=cast.rita.pk).update(timezone="")
    Project.objects.filter(pk=cast.project.pk).update(timezone="Asia/Tokyo")
    fact = factories.proposal(cast.project)
    decide(rita, fact, "put_off", until="tomorrow")
    fact.refresh_from_db()
    assert fact.put_off_until is not None
    assert f"{fact.put_off_until.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M}" == "00:00"


def test_the_nearest_of_the_same_subject_are_offered_and_one_is_chosen(cast: Cast, rita: Client) -> None:
    known = factories.approved(cast.project, cast.olga, "Likes to be called in the evening.", key="note:evening")
    factories.approved(cast.project, cast.olga, "Pays by invoice.", key="note:pays")
    elsewhere = factories.approved(
        cast.project, cast.olga, "Call in the evening.", about="customer:other", key="note:e"
    )
    fact = factories.proposal(cast.project, "Wants to be called in the evening.", key="note:call")
    page = panel(rita, fact, "same")
    chosen = re.findall(r'name="other" value="(f-[^".]+)\.(\d+)" data-key="(\d)"', page)
    assert chosen[0] == (known.short_id, str(known.revision), "1")
    assert elsewhere.short_id not in page
    assert decide(rita, fact, "same_as", other=f"{known.short_id}.{known.revision}").status_code == 200
    fact.refresh_from_db()
    known.refresh_from_db()
    assert (fact.status, fact.superseded_by_id, known.times_seen) == (Status.MERGED, known.pk, 2)
    rita.post("/p/shop/review/undo", headers=HTMX)
    fact.refresh_from_db()
    known.refresh_from_db()
    assert (fact.status, known.times_seen) == (Status.PROPOSED, 1)


def test_another_is_found_by_its_words(cast: Cast, rita: Client) -> None:
    factories.approved(cast.project, cast.olga, "Pays by invoice.", key="note:pays")
    fact = factories.proposal(cast.project, "Wants to be called in the evening.", key="note:call")
    assert "Pays by invoice." in panel(rita, fact, "same", words="INVOICE")
    assert "No memory of this subject has these words." in panel(rita, fact, "same", words="zebra")
    assert "No memory of this subject" in panel(rita, fact, "same", words="'); DROP TABLE x; -- %_\x00")


def test_what_is_over_or_of_another_subject_or_project_is_never_merged_into(cast: Cast, rita: Client) -> None:
    fact = factories.proposal(cast.project, "Wants to be called in the evening.", key="note:call")
    gone = factories.proposal(cast.project, "Call in the evening.", key="note:gone")
    gone.reject(cast.olga, revision=gone.revision, now=timezone.now(), reason="vague")
    other = factories.approved(cast.project, cast.olga, "Call in the evening.", about="customer:other", key="note:e")
    foreign = factories.approved(cast.other, cast.sam, "Call in the evening.", key="note:e")
    for target in (gone, other, foreign, fact):
        answer = decide(rita, fact, "same_as", other=f"{target.short_id}.{target.revision}")
        assert answer.status_code == 422, target.text
    for nonsense in ("", "f-1", "x.1", f"{other.short_id}.", "1.2.3"):
        assert decide(rita, fact, "same_as", other=nonsense).status_code == 422
    fact.refresh_from_db()
    assert fact.status == Status.PROPOSED


def test_the_other_one_is_the_one_that_was_seen(cast: Cast, rita: Client) -> None:
    fact = factories.proposal(cast.project, "Wants to be called in the evening.", key="note:call")
    known = factories.approved(cast.project, cast.olga, "Likes to be called in the evening.", key="note:evening")
    seen = known.revision
    known.edit(cast.olga, revision=seen, now=timezone.now(), text="Never call in the evening.")
    answer = decide(rita, fact, "same_as", other=f"{known.short_id}.{seen}")
    assert answer.status_code == 409
    assert "Never call in the evening." in re.sub(r"</?(?:ins|del)>", "", html(answer))


def test_many_memories_of_a_subject_cost_no_more_queries(cast: Cast, django_assert_max_num_queries: Any) -> None:
    fact = factories.proposal(cast.project, "Wants to be called in the evening.", key="note:call")
    for number in range(40):
        factories.proposal(cast.project, f"Called {number} times in the evening.", key=f"note:{number}")
    with django_assert_max_num_queries(8):
        assert len(nearest(fact, "", timezone.now())) == MOST
    with django_assert_max_num_queries(3):
        assert len(nearest(fact, "called", timezone.now())) == MOST


@pytest.mark.parametrize("name", ["reject", "note", "same"])
def test_a_live_memory_has_no_panel_that_is_of_proposals(cast: Cast, rita: Client, name: str) -> None:
    fact = factories.approved(cast.project, cast.olga)
    Fact.objects.filter(pk=fact.pk).update(review_due_at=timezone.now())
    page = panel(rita, fact, name)
    assert 'data-key="a"' in page


def test_the_last_words_said_name_the_key_only_where_keys_are_on(cast: Cast, rita: Client) -> None:
    first = factories.proposal(cast.project, "One.", key="note:1")
    second = factories.proposal(cast.project, "Two.", key="note:2")
    assert 'data-announce="Approved. 1 left. U to undo."' in html(decide(rita, first, "approve"))
    Person.objects.filter(pk=cast.rita.pk).update(keys_off=True)
    assert 'data-announce="Approved. 0 left."' in html(decide(rita, second, "approve"))
