"""Who had already received what is taken back: agents, how many of their sessions, and when last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import BriefServed, Decision, Fact, Status

# What agents read of a memory: with other words, what they were told holds no more.
_READ = ("text", "value", "key", "type")


@dataclass
class Receiver:
    """One agent that was told: in which sessions (None: a brief without one), and when last."""

    name: str
    sessions: set[int | None]
    at: datetime

    @property
    def words(self) -> str:
        """`2 sessions of support at 10:14`, with the day where it is another one."""
        count = len(self.sessions)
        terms = {"count": count, "name": self.name, "when": _when(self.at)}
        return (
            ngettext("%(count)d session of %(name)s %(when)s", "%(count)d sessions of %(name)s %(when)s", count) % terms
        )


def told_words(undone: Sequence[Decision]) -> str:
    """`Served to 2 sessions of support at 10:14; the next brief takes it back`, or "" where nobody had it.

    `undone` are the steps that took decisions back, their facts as they are now. One query.
    """
    lost = {step.fact_id: step for step in undone if _was_told_otherwise(step)}
    if not lost:
        return ""
    since = min(step.undoes.at for step in lost.values() if step.undoes is not None)
    served = (
        BriefServed.objects.filter(
            project_id=undone[0].project_id, at__gte=since, fact_ids__overlap=sorted(lost), paused=False
        )
        .order_by("pk")
        .values_list("agent_id", "agent__slug", "session_id", "fact_ids", "at")
    )
    found: dict[int, Receiver] = {}
    for agent_id, slug, session_id, fact_ids, at in served.iterator():
        steps = [lost[pk] for pk in lost.keys() & set(fact_ids)]
        if not any(step.undoes is not None and step.undoes.at <= at and _lost_it(step, agent_id) for step in steps):
            continue
        one = found.setdefault(agent_id, Receiver(slug, set(), at))
        one.sessions.add(session_id)
        one.at = at
    if not found:
        return ""
    who = _(" and ").join(one.words for one in sorted(found.values(), key=lambda one: one.name))
    return _("Served to %(who)s; the next brief takes it back") % {"who": who}


def _was_told_otherwise(step: Decision) -> bool:
    """Whether agents had, before this undo, something that they have no more, or in other words."""
    was_live = step.before.get("status", step.fact.status) == Status.APPROVED
    moved = step.before.keys() & {"status", "everyone", "agent_ids", *_READ}
    return was_live and bool(moved)


def _lost_it(step: Decision, agent_id: int) -> bool:
    fact: Fact = step.fact
    holds = fact.status == Status.APPROVED and (fact.everyone or agent_id in fact.agent_ids)
    return not holds or bool(step.before.keys() & set(_READ))


def _when(at: datetime) -> str:
    local = timezone.localtime(at)
    clock = f"{local:%H:%M}"
    if local.date() == timezone.localdate():
        return _("at %(clock)s") % {"clock": clock}
    return _("on %(day)s at %(clock)s") % {"day": date_format(local, "j M"), "clock": clock}
