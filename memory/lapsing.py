"""Proposals that nobody decided for too long lapse: 30 days after they lay in a pile, 90 where they never did.

Age never approves. What lapsed comes back when it is seen again, or when a person takes the lapse back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from memory.models import Fact, FactChanged, NotAllowed, Status, Subject
from projects import tenancy

AFTER_A_PILE = timedelta(days=30)
HELD_BACK = timedelta(days=90)
AT_ONCE = 500
STEPS_A_RUN = 20


def lapse(now: datetime) -> int:
    """Lets up to 10,000 proposals lapse, the longest waiting first; returns how many."""
    lapsed = 0
    for _ in range(STEPS_A_RUN):
        found, done = _step(now)
        lapsed += done
        if found < AT_ONCE or not done:
            break
    return lapsed


def _step(now: datetime) -> tuple[int, int]:
    """(how many were due, how many lapsed), in a transaction of its own."""
    done = 0
    with tenancy.system("sweeper"):
        facts = list(overdue(now)[:AT_ONCE])
        Subject.objects.hold(fact.subject_id for fact in facts)
        for fact in facts:
            try:
                fact.lapse(now)
            except (FactChanged, NotAllowed):
                continue  # somebody decided at this very moment
            done += 1
    return len(facts), done


def overdue(now: datetime):  # type: ignore[no-untyped-def]
    """Proposals whose days are over, the longest unseen first. Seen again, and put off until a day, count anew."""
    lay_in_a_pile = Q(piled_at__lte=now - AFTER_A_PILE, last_seen_at__lte=now - AFTER_A_PILE)
    held_back = Q(piled_at__isnull=True, last_seen_at__lte=now - HELD_BACK)
    not_put_off = Q(put_off_until__isnull=True) | Q(put_off_until__lte=now - AFTER_A_PILE)
    waiting = Fact.objects.filter(status=Status.PROPOSED).filter(not_put_off)
    return waiting.filter(lay_in_a_pile | held_back).order_by("last_seen_at", "pk")
