"""Sends what the outbox holds: by mail to people, by POST to webhooks. Each at least once, the same id each time.

An attempt is counted and committed before anything leaves, so that a process killed in the middle tries again later and
never for ever; whoever gets a notice twice tells so by its id.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import Q

from projects import tenancy
from projects.words import later
from review.models import Notice, Webhook
from review.notices import outbox, webhook, words

# When each further attempt is made, counted from when there was something to tell.
TRIES = tuple(timedelta(minutes=minutes) for minutes in (0, 1, 5, 20, 60, 180, 480, 1440))
# Of one run: it is called each minute.
MOST = 100
SECONDS = 45.0
MAIL_SECONDS = 10


def send_waiting(now: datetime) -> int:
    """Sends what is due, oldest first, within one run's time; the number that arrived."""
    started, sent = time.monotonic(), 0
    tried: list[int] = []
    while len(tried) < MOST and time.monotonic() - started < SECONDS:
        notice = _claim(now, tried)
        if notice is None:
            break
        tried.append(notice.pk)
        fault = _send(notice, now)
        _note(notice, fault, now)
        sent += not fault
    return sent


def _claim(now: datetime, tried: list[int]) -> Notice | None:
    """The next one whose time has come, with one attempt more; nobody else has it for a minute."""
    due = Q()
    for attempts, after in enumerate(TRIES):
        due |= Q(attempts=attempts, created_at__lte=now - after)
    with tenancy.system("worker"):
        waiting = Notice.objects.filter(due, sent_at__isnull=True).exclude(pk__in=tried)
        notice = waiting.select_for_update(skip_locked=True).order_by("created_at", "pk").first()
        if notice is not None:
            notice.attempts += 1
            notice.save(update_fields=["attempts"])
        return notice


def _send(notice: Notice, now: datetime) -> str:
    """ "" when it is on its way, else what went wrong. No transaction is open while the other side takes its time."""
    with tenancy.system("worker"):
        wanted = outbox.is_still_wanted(notice)
        slugs = words.slugs_of(notice)
        hook = Webhook.objects.filter(project=notice.project_id).first() if notice.person_id is None else None
        address = notice.person.email if notice.person is not None else ""
    if not wanted or (notice.person_id is None and hook is None):
        return NOT_WANTED
    if hook is None:
        return _mail(notice, address, slugs)
    try:
        message = words.message(notice, slugs.get(notice.project_id, ""))
        webhook.send(hook.url, hook.secret, message["id"], message, int(now.timestamp()))
    except webhook.NotSent as problem:
        return str(problem)[:60]
    return ""


NOT_WANTED = later("nobody wants it any more")


def _mail(notice: Notice, address: str, slugs: dict[int, str]) -> str:
    mail = EmailMessage(
        words.subject(notice),
        words.body(notice, slugs),
        None,
        [address],
        headers={
            # The same at each attempt: a mailbox shows a message that it has already once.
            "Message-ID": f"<notice-{notice.pk}.{settings.DATA_FINGERPRINT}@countersign>",
            "X-Countersign-Notice": f"notice-{notice.pk}",
            "Auto-Submitted": "auto-generated",
        },
        connection=get_connection(timeout=MAIL_SECONDS),
    )
    try:
        mail.send()
    except (SMTPException, OSError) as problem:
        return type(problem).__name__[:60]
    return ""


def _note(notice: Notice, fault: str, now: datetime) -> None:
    with tenancy.system("worker"):
        if not fault:
            Notice.objects.filter(pk=notice.pk).update(sent_at=now, fault="")
        elif fault == NOT_WANTED:
            Notice.objects.filter(pk=notice.pk).update(attempts=len(TRIES), fault=fault)
        else:
            Notice.objects.filter(pk=notice.pk).update(fault=fault)
        if notice.person_id is None and fault != NOT_WANTED:
            hook = Webhook.objects.filter(project=notice.project_id)
            hook.update(last_fault=fault, **({} if fault else {"last_sent_at": now}))
