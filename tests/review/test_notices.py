"""What is told to whom and when: one digest a morning, at once what cannot wait, and never a word of a memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail

from memory.models import Feedback, Verdict
from projects import tenancy
from projects.models import Membership
from review.deciding import assigning
from review.models import Notice, NoticeKind, Webhook
from review.notices import delivery, gathering, outbox
from tests import factories
from tests.browser.payloads import PAYLOADS
from tests.factories import Cast

pytestmark = pytest.mark.django_db

EIGHT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def complained(cast: Cast, at: datetime, **fields: Any):  # type: ignore[no-untyped-def]
    fact = factories.approved(cast.project, cast.rita, now=at - timedelta(days=2), **fields)
    Feedback.objects.create(
        project=cast.project, fact=fact, agent=cast.support, verdict=Verdict.MISLED, said_on=at.date(), at=at
    )
    fact.look_again(at)
    return fact


def told(kind: str) -> dict[str, Any]:
    return {row.person.name if row.person else "webhook": row.counts for row in Notice.objects.filter(kind=kind)}


def test_a_digest_comes_in_the_morning_once_and_only_when_something_waits(cast: Cast, sight: None) -> None:
    assert gathering.gather(EIGHT) == 0
    factories.proposal(cast.project, now=EIGHT)
    assert gathering.gather(EIGHT - timedelta(minutes=1)) == 0
    assert gathering.gather(EIGHT) == 2
    assert gathering.gather(EIGHT + timedelta(hours=1)) == 0
    assert gathering.gather(EIGHT + timedelta(days=1)) == 2
    line = told("digest")["Rita"]["lines"][0]
    assert (line["waiting"], line["still_true"], line["complaints"], line["minutes"]) == (1, 0, 0, 1)
    assert "Vera" not in told("digest")


def test_what_comes_up_later_in_the_day_waits_for_the_next_morning(cast: Cast, sight: None) -> None:
    factories.proposal(cast.project, now=EIGHT)
    assert gathering.gather(EIGHT + timedelta(hours=7)) == 0


def test_the_morning_is_the_persons_own(cast: Cast, sight: None) -> None:
    cast.rita.timezone = "America/New_York"
    cast.rita.save()
    cast.olga.timezone = ""
    cast.olga.save()
    cast.project.timezone = "Asia/Tokyo"
    cast.project.save()
    factories.proposal(cast.project, now=EIGHT - timedelta(days=1))
    assert gathering.gather(EIGHT - timedelta(hours=9)) == 1  # 08:00 of the 30th in Tokyo: Olga, by the project's zone
    assert set(told("digest")) == {"Olga"}
    assert gathering.gather(EIGHT + timedelta(hours=5)) == 1  # 08:00 in New York
    assert set(told("digest")) == {"Olga", "Rita"}


def test_one_digest_names_every_project_with_its_own_numbers(cast: Cast, sight: None) -> None:
    Membership.objects.create(project=cast.other, person=cast.rita, role="reviewer")
    factories.proposal(cast.project, now=EIGHT)
    for number in range(3):
        factories.proposal(cast.other, f"Number {number}.", key=f"note:{number}", now=EIGHT)
    gathering.gather(EIGHT)
    delivery.send_waiting(EIGHT)
    body = next(one for one in mail.outbox if one.to == ["rita@example.com"]).body
    assert "1 proposal" in body
    assert "3 proposals" in body
    assert "/p/shop/review" in body
    assert "/p/depot/review" in body
    assert sum(one.to == ["rita@example.com"] for one in mail.outbox) == 1


def test_whoever_wants_none_gets_none(cast: Cast, sight: None) -> None:
    factories.proposal(cast.project, now=EIGHT)
    cast.rita.wants_digest = False
    cast.rita.save()
    gathering.gather(EIGHT)
    assert set(told("digest")) == {"Olga"}
    cast.olga.wants_digest = False
    cast.olga.save()
    assert delivery.send_waiting(EIGHT) == 0
    assert not mail.outbox


@pytest.mark.parametrize(
    ("digest", "alerts", "kinds"),
    [
        (True, True, {"digest", "complaint"}),
        (True, False, {"digest"}),
        (False, True, {"complaint"}),
        (False, False, set()),
    ],
)
def test_each_of_the_two_switches_is_for_its_own_mails(
    cast: Cast, sight: None, digest: bool, alerts: bool, kinds: set[str]
) -> None:
    cast.rita.wants_digest, cast.rita.wants_alerts = digest, alerts
    cast.rita.save()
    complained(cast, EIGHT)
    factories.proposal(cast.project, now=EIGHT)
    gathering.gather(EIGHT)
    assert set(Notice.objects.filter(person=cast.rita).values_list("kind", flat=True)) == kinds


def test_what_was_turned_off_since_is_not_sent(cast: Cast, sight: None) -> None:
    complained(cast, EIGHT)
    factories.proposal(cast.project, now=EIGHT)
    gathering.gather(EIGHT)
    cast.rita.wants_alerts = False
    cast.rita.save()
    cast.olga.wants_digest = False
    cast.olga.save()
    delivery.send_waiting(EIGHT)
    sent = Notice.objects.filter(sent_at__isnull=False).values_list("person__name", "kind")
    assert set(sent) == {("Rita", "digest"), ("Olga", "complaint")}


def test_a_complaint_is_told_at_once_and_once(cast: Cast, sight: None) -> None:
    now = EIGHT - timedelta(hours=3)
    complained(cast, now)
    assert gathering.gather(now) == 2
    assert gathering.gather(now + timedelta(minutes=1)) == 0
    assert told("complaint")["Rita"]["complaints"] == 1
    complained(cast, now + timedelta(minutes=2), text="Another.", key="user_preference:other")
    assert gathering.gather(now + timedelta(minutes=3)) == 2
    assert gathering.gather(now + timedelta(minutes=4)) == 0


def test_several_complaints_of_a_minute_are_one_notice(cast: Cast, sight: None) -> None:
    now = EIGHT - timedelta(hours=3)
    for number in range(5):
        complained(cast, now, text=f"Number {number}.", key=f"note:{number}")
    assert gathering.gather(now) == 2
    assert told("complaint")["Rita"]["complaints"] == 5


def test_a_complaint_answered_and_made_again_is_another(cast: Cast, sight: None) -> None:
    now = EIGHT - timedelta(hours=3)
    fact = complained(cast, now)
    gathering.gather(now)
    fact.refresh_from_db()
    fact.reconfirm(cast.rita, revision=fact.revision, now=now + timedelta(minutes=5))
    Feedback.objects.create(
        project=cast.project,
        fact=fact,
        agent=cast.sales,
        verdict=Verdict.STALE,
        said_on=now.date(),
        at=now + timedelta(minutes=9),
    )
    fact.look_again(now + timedelta(minutes=9))
    assert gathering.gather(now + timedelta(minutes=10)) == 2


def test_a_commitment_is_told_on_the_morning_of_its_day(cast: Cast, sight: None) -> None:
    value = {"due_on": "2026-11-30"}
    made = EIGHT - timedelta(days=9)
    factories.approved(cast.project, cast.rita, "Refund by 30 Nov.", key="commitment:refund", value=value, now=made)
    assert gathering.due_dates(EIGHT - timedelta(days=1)) == 0
    assert gathering.due_dates(EIGHT - timedelta(hours=1)) == 0
    assert gathering.due_dates(EIGHT) == 2
    assert gathering.due_dates(EIGHT + timedelta(hours=2)) == 0
    assert gathering.due_dates(EIGHT + timedelta(days=1)) == 0


def test_an_assignment_is_told_to_whom_it_is_for(cast: Cast, sight: None) -> None:
    fact = factories.proposal(cast.project, now=EIGHT)
    rita = Membership.objects.select_related("person", "project").get(person=cast.rita)
    outbox.assigned(assigning.put_before(rita, fact, cast.olga.pk, "A secret note about Sarah.", EIGHT), EIGHT)
    assert set(told("assignment")) == {"Olga"}
    delivery.send_waiting(EIGHT)
    [sent] = mail.outbox
    assert sent.to == ["olga@example.com"]
    assert "Sarah" not in sent.subject + sent.body


# Sending --------------------------------------------------------------------------------------------------------------


def test_what_was_sent_is_not_sent_again(cast: Cast, sight: None) -> None:
    factories.proposal(cast.project, now=EIGHT)
    gathering.gather(EIGHT)
    assert delivery.send_waiting(EIGHT) == 2
    assert delivery.send_waiting(EIGHT + timedelta(days=1)) == 0
    assert len(mail.outbox) == 2


def test_a_mail_that_fails_is_tried_again_with_the_same_id_and_not_for_ever(
    cast: Cast, sight: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.proposal(cast.project, now=EIGHT)
    cast.olga.wants_digest = False
    cast.olga.save()
    gathering.gather(EIGHT)
    ids: list[str] = []

    def refuse(self: Any, messages: list[Any]) -> int:
        ids.extend(message.extra_headers["Message-ID"] for message in messages)
        raise OSError

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    for minutes in range(0, 60 * 24 * 3, 1):
        if minutes < 30 or minutes % 60 == 0:
            delivery.send_waiting(EIGHT + timedelta(minutes=minutes))
    assert len(ids) == len(delivery.TRIES)
    assert len(set(ids)) == 1
    notice = Notice.objects.get()
    assert (notice.sent_at, notice.fault) == (None, "OSError")


@pytest.mark.django_db(transaction=True)
def test_a_process_killed_in_the_middle_sends_it_again(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    with tenancy.system("command"):
        factories.proposal(cast.project, now=EIGHT)
        cast.olga.wants_digest = False
        cast.olga.save()
    gathering.gather(EIGHT)

    def killed(*given: Any) -> str:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(delivery, "_note", killed)
        with pytest.raises(SystemExit):
            delivery.send_waiting(EIGHT)
    assert len(mail.outbox) == 1
    assert delivery.send_waiting(EIGHT) == 0  # another worker, at the same moment
    assert delivery.send_waiting(EIGHT + timedelta(minutes=1)) == 1
    assert len({one.extra_headers["X-Countersign-Notice"] for one in mail.outbox}) == 1


def test_whoever_left_the_project_is_not_told(cast: Cast, sight: None) -> None:
    factories.proposal(cast.project, now=EIGHT)
    gathering.gather(EIGHT)
    Membership.objects.filter(person=cast.rita).delete()
    assert delivery.send_waiting(EIGHT) == 1
    assert [one.to for one in mail.outbox] == [["olga@example.com"]]


# Never a word ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_notice_holds_text_a_subject_or_a_name(cast: Cast, sight: None, payload: str) -> None:
    """Every kind of notice over a project where all that somebody could write is hostile, and the word that gives it
    away is in each of them."""
    mark = "Xyzzy"
    # Half a letter and NUL are cut off at every door.
    words = f"{mark} {payload}"[:200].replace("\x00", "").encode("utf-8", "replace").decode()
    now = EIGHT
    for person in (cast.rita, cast.olga):
        person.name = words[:100]
        person.save()
    cast.project.name = words[:100]
    cast.project.save()
    about = f"customer:{mark}-{abs(hash(payload))}"
    fact = factories.proposal(cast.project, words, about=about, key=f"note:{mark}", now=now)
    complained(cast, now, text=f"{words} live", about=about, key=f"note:{mark}.live")
    factories.approved(
        cast.project,
        cast.rita,
        f"{words} due",
        about=about,
        key=f"commitment:{mark}",
        value={"due_on": now.date().isoformat(), "what": words},
        now=now - timedelta(days=3),
    )
    rita = Membership.objects.select_related("person", "project").get(person=cast.rita)
    outbox.assigned(assigning.put_before(rita, fact, cast.olga.pk, words, now), now)
    Webhook.objects.create(project=cast.project, url="https://hooks.example.com/", secret="s")
    posted: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "review.notices.webhook._post", lambda url, body, headers, seconds: posted.append((body, headers)) or 200
        )
        gathering.gather(now)
        assert {row.kind for row in Notice.objects.all()} == set(NoticeKind)
        delivery.send_waiting(now)
    assert not Notice.objects.filter(sent_at__isnull=True).exists()
    said = [str(one.message().as_string()) for one in mail.outbox] + [str(one) for one in posted]
    assert len(said) == Notice.objects.count()
    assert not [one for one in said if mark.lower() in one.lower()]
