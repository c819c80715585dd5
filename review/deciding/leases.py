"""Who is on a card now: a lease of three minutes that others see, that ends by the clock and that stops nobody.

A person is on one card of a project at a time, so the table holds at most one row a reader.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.models import Fact
from projects.models import Person, Project
from projects.prepared import Statement, run
from review.models import Lease

LASTS = timedelta(minutes=3)
# A lease with more than this left is not written again: showing a card twice costs no write.
RENEWED_UNDER = timedelta(minutes=1)

# Neither half ever waits for somebody who decides at this moment: two people who decide and are shown each other's
# card would wait for one another. Whoever is in the way has the card anyway.
TAKE = """
    WITH free AS (SELECT id, project_id FROM memory_fact WHERE id = %(fact)s::bigint FOR KEY SHARE SKIP LOCKED),
    left_behind AS (
        DELETE FROM review_lease WHERE id IN (
            SELECT id FROM review_lease
            WHERE project_id = %(project)s::bigint AND person_id = %(person)s::bigint AND fact_id <> %(fact)s::bigint
            FOR UPDATE SKIP LOCKED
        )
    )
    INSERT INTO review_lease (project_id, fact_id, person_id, until)
    SELECT project_id, id, %(person)s::bigint, %(until)s::timestamptz FROM free
    ON CONFLICT (fact_id) DO UPDATE SET person_id = excluded.person_id, until = excluded.until
    WHERE review_lease.person_id = excluded.person_id OR review_lease.until <= %(now)s::timestamptz
    RETURNING id
"""
END = """
    DELETE FROM review_lease
    WHERE id IN (SELECT id FROM review_lease WHERE fact_id = %(fact)s::bigint FOR UPDATE SKIP LOCKED)
    RETURNING id
"""
HELD = """
    SELECT person_id, until FROM review_lease WHERE fact_id = %(fact)s::bigint AND until > %(now)s::timestamptz
"""


def take(fact: Fact, person: Person, now: datetime) -> Person | None:
    """`person` is shown this card: the other one who is on it already, who keeps it, else None and it is theirs.

    What they were on before is free again. One query, and one write where it changes hands or runs out soon.
    """
    named: dict[str, int | datetime] = {"fact": fact.pk, "project": fact.project_id, "person": person.pk}
    named |= {"now": now, "until": now + LASTS}
    held_by, until = next(iter(run(Lease.objects.db, *asked(fact, now))), (None, now))
    if held_by not in (None, person.pk):
        return Person.objects.get(pk=held_by)
    if until - now < RENEWED_UNDER:
        run(Lease.objects.db, TAKE, named)
    return None


def asked(fact: Fact, now: datetime) -> Statement:
    """What `take` asks first, to be asked ahead with others."""
    return HELD, {"fact": fact.pk, "now": now}


def end(fact: Fact) -> None:
    """The card was decided: nobody is on it any more."""
    run(Lease.objects.db, END, {"fact": fact.pk})


def leave(project: Project, person: Person) -> None:
    """This person looks at no card of the project now."""
    Lease.objects.filter(project=project, person=person).delete()


def holder(fact: Fact, now: datetime) -> Person | None:
    """Who is on this card now, the reader too."""
    held = Lease.objects.select_related("person").filter(fact=fact, until__gt=now).first()
    return held.person if held is not None else None


def held_by_others(project: Project, person: Person, now: datetime) -> set[int]:
    """The ids of the memories that somebody else is on now."""
    held = Lease.objects.filter(project=project, until__gt=now).exclude(person=person)
    return set(held.values_list("fact_id", flat=True))
