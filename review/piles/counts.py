"""How many cards wait, counted up to a cap: past it nobody reads the number, and the count must not grow with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache

from projects.prepared import Rows, Statement
from review.piles.reading import rows

CAP = 10_000
DUE_CAP = 1_000

# A project where the cap was reached is not counted to it again so soon: what it says is "10,000+".
REMEMBERED_SECONDS = 60

# Each number is read off an index; of those that fall due, which are few, the rows are looked at.
_WAITING = """
SELECT p.id,
    CASE WHEN p.id = ANY (%(capped)s::bigint[]) THEN {cap} ELSE (
        SELECT count(*) FROM (SELECT 1 FROM memory_fact WHERE project_id = p.id AND status = 'proposed'
            LIMIT {cap}) proposed) END,
    (SELECT count(*) FROM (SELECT 1 FROM memory_fact WHERE project_id = p.id AND status = 'proposed'
        AND put_off_until > %(now)s::timestamptz LIMIT {cap}) later),
    (SELECT count(*) FROM (SELECT 1 FROM memory_fact f WHERE f.project_id = p.id AND f.status = 'approved'
        AND f.review_due_at <= %(now)s::timestamptz
        AND (f.expires_at IS NULL OR f.expires_at > %(now)s::timestamptz)
        AND (f.put_off_until IS NULL OR f.put_off_until <= %(now)s::timestamptz)
        AND f.subject_id <> ALL (ARRAY(
            SELECT id FROM memory_subject WHERE project_id = p.id AND frozen_at IS NOT NULL))
        LIMIT {due_cap}) due)
FROM unnest(%(projects)s::bigint[]) p(id)
""".replace("{cap}", str(CAP)).replace("{due_cap}", str(DUE_CAP))


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in one project, each number up to its cap."""

    proposals: int
    due: int

    @property
    def total(self) -> int:
        return self.proposals + self.due

    @property
    def is_capped(self) -> bool:
        return self.proposals >= CAP or self.due >= DUE_CAP

    def but(self, taken: int) -> str:
        """All but so many, in words: `212`, `10,000+`, "" for none."""
        return words(self.total - taken, self.is_capped)


def words(number: int, is_more: bool) -> str:
    """`212`; where there are more than were counted, `10,000+`."""
    if number <= 0 and not is_more:
        return ""
    return f"{number - number % 1000:,}+" if is_more and number >= 1000 else f"{number:,}{'+' if is_more else ''}"


def waiting(project_ids: Iterable[int], now: datetime) -> dict[int, Waiting]:
    """Project id → what waits there. One query."""
    ids = list(project_ids)
    return told(rows(*asked(ids, now))) if ids else {}


def asked(project_ids: list[int], now: datetime) -> Statement:
    """The statement behind `waiting`, to be read with others."""
    capped = [pk for pk in project_ids if cache.get(_key(pk))]
    return _WAITING, {"projects": project_ids, "capped": capped, "now": now}


def told(found: Rows) -> dict[int, Waiting]:
    """What its rows say."""
    waits = {}
    for pk, proposed, later, due in found:
        if proposed >= CAP:
            # Of so many, those that were put off change nothing that is said.
            cache.add(_key(pk), True, REMEMBERED_SECONDS)
            waits[pk] = Waiting(CAP, due)
        else:
            waits[pk] = Waiting(max(0, proposed - later), due)
    return waits


def _key(project_id: int) -> str:
    return f"waiting-capped:{project_id}"
