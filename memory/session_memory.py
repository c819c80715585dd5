"""Session memory: a session of an agent, handed back to that agent while it goes on. Nobody countersigned it.

A sweep keeps a rolling summary of every session with news; what came since its last look is added when the agent asks.
48 hours after the last word there is nothing left to hand back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Case, F, Q, QuerySet, TextField, When
from django.db.models.functions import Left

from memory import context_text, own_briefs
from memory.models import Observation, Session, SessionKind
from memory.summarisers import is_worth_it, shorten
from memory.summary import MOST_CHARACTERS, LocalSummariser, Turn
from projects import audit, tenancy
from projects.models import Agent

EXPIRES_AFTER = timedelta(hours=48)
# A row's number is given before it is committed: what is this old is all there, in the order of its numbers.
SETTLED_AFTER = timedelta(seconds=30)
SWEEP_LIMIT = 200
TURNS_AT_ONCE = 500
TURNS_A_PAGE = 50
KINDS = ("message", "tool_call", "tool_result", "action", "error", "edit")
# Of what a tool printed only the beginning is ever used.
PRINTED_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class HandedBack:
    """A session as its agent gets it. `why` says why the text is empty: `paused`, `expired`, `withheld` (a privacy
    request runs), `nothing said` or `did not fit`; "" where it is not."""

    text: str = ""
    tokens: int = 0
    turns: int = 0
    turns_left_out: int = 0
    why: str = ""
    summary_by: str = ""
    last_word_at: datetime | None = None

    @property
    def ends_at(self) -> datetime | None:
        return self.last_word_at + EXPIRES_AFTER if self.last_word_at else None


# Handing back ---------------------------------------------------------------------------------------------------------


def hand_back(agent: Agent, external_id: str, max_tokens: int, now: datetime) -> HandedBack | None:
    """What was said in this agent's own session, within `max_tokens`; None for a session it does not have."""
    session = (
        Session.objects.filter(agent=agent, external_id=external_id, kind=SessionKind.RUN)
        .select_related("project", "agent")
        .order_by("pk")
        .first()
    )
    if session is None:
        return None
    audit.record(
        "session.read", agent, project_id=agent.project_id, object_kind="session", object_ids=[session.pk], now=now
    )
    if agent.paused_at or agent.project.paused_at:
        return HandedBack(why="paused")
    if session.last_seen_at + EXPIRES_AFTER <= now:
        return HandedBack(why="expired", last_word_at=session.last_seen_at)
    if session.subjects.filter(frozen_at__isnull=False).exists():
        return HandedBack(why="withheld", last_word_at=session.last_seen_at)
    return _composed(session, max_tokens)


def _composed(session: Session, max_tokens: int) -> HandedBack:
    news = list(_told(session).filter(pk__gt=session.summary_through).order_by("pk")[:TURNS_AT_ONCE])
    summary = LocalSummariser().summarise(session.summary, list(_turns(session, news)))
    names = (session.project.slug, session.agent.slug, session.external_id)
    composed = context_text.compose(*names, summary, _latest(session), max_tokens)
    said_count = _told(session).count()
    why = "" if composed.text else "did not fit" if said_count else "nothing said"
    return HandedBack(
        text=composed.text,
        tokens=composed.tokens,
        turns=composed.turns,
        turns_left_out=said_count - composed.turns,
        why=why,
        summary_by=session.summary_by or LocalSummariser.NAME,
        last_word_at=session.last_seen_at,
    )


def _latest(session: Session) -> Iterator[Turn]:
    """The session's turns from the last one backwards, read a page at a time."""
    found = _told(session).order_by("-seq", "-pk")
    for start in range(0, 100 * TURNS_A_PAGE, TURNS_A_PAGE):
        page = list(found[start : start + TURNS_A_PAGE])
        yield from _turns(session, page)
        if len(page) < TURNS_A_PAGE:
            return


def _told(session: Session) -> QuerySet[Observation]:
    """What was said and done in a session: no brief of ours, no machinery, nothing of a side chain."""
    printed = When(kind="tool_result", then=Left("text", PRINTED_CHARACTERS))
    return (
        session.observations.filter(kind__in=KINDS, sidechain=False)
        .exclude(role="system")
        .annotate(words=Case(printed, default=F("text"), output_field=TextField()))
        .defer("text", "findings")
    )


def _turns(session: Session, rows: Iterable[Observation]) -> Iterator[Turn]:
    zone = ZoneInfo(session.timezone or session.project.timezone)
    for row in rows:
        text = own_briefs.without_own_brief(row.words)  # type: ignore[attr-defined]
        if not text.strip():
            continue
        at = row.occurred_at.astimezone(zone)
        speaker = (
            "user" if row.role == "user" else session.agent.slug if row.role == "assistant" else row.tool or "tool"
        )
        failed = row.is_error or row.exit_code not in (None, 0)
        yield Turn(row.kind, row.role, speaker, f"{at:%Y-%m-%d}", f"{at:%Y-%m-%d %H:%M}", text, failed)


# Keeping the summaries ------------------------------------------------------------------------------------------------


def sweep(now: datetime) -> int:
    """Brings the summaries of sessions with news up to date and forgets those of sessions that ended; returns how many
    were written."""
    with tenancy.system("sweeper"):
        ended = Session.objects.filter(last_seen_at__lte=now - EXPIRES_AFTER).exclude(summary="")
        # Should it go on after all, its summary is made anew from what is still kept of it.
        ended.update(summary="", summary_by="", summary_through=0, summary_at=None)
        with_news = (
            Session.objects.filter(kind=SessionKind.RUN, last_seen_at__gt=now - EXPIRES_AFTER)
            .filter(Q(summary_at__isnull=True) | Q(last_seen_at__gt=F("summary_at")))
            .filter(first_seen_at__lte=now - SETTLED_AFTER)
            .order_by("last_seen_at", "pk")
        )
        waiting = list(with_news.values_list("pk", flat=True)[:SWEEP_LIMIT])
    return sum(summarise(pk, now) for pk in waiting)


def summarise(session_id: int, now: datetime) -> bool:
    """Adds to a session's summary what was said since. Between reading and writing no transaction is open: a hosted
    summariser may take its time, and of two at once the first one counts."""
    until = now - SETTLED_AFTER
    with tenancy.system("sweeper"):
        session = Session.objects.select_related("project", "agent").filter(pk=session_id).first()
        if session is None:
            return False
        news = _told(session).filter(pk__gt=session.summary_through, received_at__lte=until)
        rows = list(news.order_by("pk")[:TURNS_AT_ONCE])
        turns = list(_turns(session, rows))
        if not is_worth_it(session, len(turns), now):
            return False
    summary, by = shorten(session, turns, now) if turns else (session.summary, session.summary_by)
    # A full batch has more behind it: looked at again by the next sweep.
    read_until = None if len(rows) == TURNS_AT_ONCE else until
    with tenancy.system("sweeper"):
        written = Session.objects.filter(pk=session_id, summary_through=session.summary_through).update(
            summary=summary[:MOST_CHARACTERS],
            summary_by=by,
            summary_through=rows[-1].pk if rows else session.summary_through,
            summary_at=read_until,
        )
    return bool(written and turns)
