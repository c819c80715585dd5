"""What an agent proposes by itself: cleaned, its quote checked, placed among what is known. Only a person decides."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory import grounding, privacy, rendering
from memory.models import BadSubject, Fact, Observation, Session, Subject
from memory.models.fact import MAX_TEXT
from memory.models.lifetimes import reachable
from memory.privacy import secrets
from memory.reconciliation import Cited, Learned, findings_of, place, subject_for
from memory.weighing import weigh
from projects import audit
from projects.models import Agent

KEY_LIMIT = 300
TYPE_LIMIT = 40
VALUE_LIMIT = 10_000  # characters of its JSON
QUOTED_OBSERVATIONS = 50
# A memory with one of these in its statement helps nobody and harms somebody.
NEVER_PROPOSED = ("secret", "payment")

# Whom a type is about where the proposal names nobody: preferences the person, lessons the repository.
ABOUT = {
    **dict.fromkeys(("fix", "error", "failed_command", "environment", "owning_file", "choice"), "repo"),
    "user_preference": "person",
    **dict.fromkeys(("account_detail", "customer_fact", "problem", "commitment", "sentiment"), "customer"),
}


class BadProposal(ValueError):
    """A proposal that cannot be taken: which field, a stable code, a sentence that quotes nothing."""

    def __init__(self, field: str, code: str, message: str) -> None:
        super().__init__(message)
        self.field, self.code, self.message = field, code, message


@dataclass(frozen=True, slots=True)
class Proposed:
    """`new`, `counted` (the same is known and reaches this agent) or `rejected before` (a person refused the same).

    What only others proposed or receive is `new` to this agent: the answer must not tell that it is there.
    """

    outcome: Literal["new", "counted", "rejected before"]
    fact: Fact


def full_key(type_: str, key: str) -> str:
    """The key as it is kept and looked up: `user_preference:timezone`, whether its type was written before it or not.

    Raises BadProposal.
    """
    try:
        clean = privacy.clean_id(key, 4 * KEY_LIMIT)
    except privacy.BadIdentifier as bad:
        raise BadProposal("key", "bad_key", str(bad).replace("An id", "A key")) from None
    whole = clean if clean.startswith(f"{type_}:") else f"{type_}:{clean}"
    if len(whole) > KEY_LIMIT:
        raise BadProposal("key", "bad_key", f"A key has at most {KEY_LIMIT} characters, its type included.")
    return whole


def propose(
    agent: Agent,
    *,
    type: str,
    key: str,
    value: Any,
    text: str | None = None,
    subject: tuple[str, str] | None = None,
    session: str | None = None,
    quote: str | None = None,
    scope: Literal["everyone"] | Sequence[str] | None = None,
    expires_at: datetime | None = None,
    now: datetime,
) -> Proposed:
    """Places the proposal: new, counted on what says the same, or suppressed. Raises BadProposal.

    Scope and lifetime are suggestions to the reviewer. A quote must stand word for word in this agent's own session.
    """
    type = clean_type(type)
    if quote is not None and session is None:
        raise BadProposal("session", "session_needed", "A quote needs the session it was said in.")
    run = _session(agent, session, is_needed=quote is not None or subject is None)
    cleaned_value = clean_value(value)
    cleaned_text = _text(text, key, cleaned_value)
    cited = (_cited(run, quote),) if quote is not None and run is not None else ()
    learned = Learned(
        type=type,
        key=full_key(type, key),
        value=cleaned_value,
        text=cleaned_text,
        cited=cited,
        expires_at=_end(expires_at, now),
        source="conversation",
        agent_ids=_scope(agent, scope),
    )
    refuse_unfit(learned)
    about = _subject(agent, learned, subject, run)
    placed = place(learned, subject=about, agent=agent, now=now, session=run if cited else None)
    weigh(agent.project_id, [placed.fact.pk], now)
    audit.record(
        "fact.propose",
        agent,
        project_id=agent.project_id,
        object_kind="fact",
        object_ids=[placed.fact.pk],
        now=now,
    )
    if placed.is_proposal or placed.hidden:
        return Proposed("new", placed.fact)
    if placed.outcome == "suppressed":
        return Proposed("rejected before", placed.fact)
    return Proposed("counted", placed.fact)


def clean_type(written: str) -> str:
    """A type as it is kept. Raises BadProposal."""
    name = unicodedata.normalize("NFC", written).strip().casefold()
    unfit = not name.isprintable() or privacy.holds_invisible(name) or ":" in name
    if not name or len(name) > TYPE_LIMIT or unfit:
        raise BadProposal("type", "bad_type", f"A type is a word of at most {TYPE_LIMIT} characters without a colon.")
    # As written: some kinds of secret are told by their capitals.
    if secrets.find(written):
        raise BadProposal("type", "bad_type", "A type cannot hold a secret.")
    return name


def _end(expires_at: datetime | None, now: datetime) -> datetime | None:
    if expires_at is None:
        return None
    end = reachable(expires_at, now)
    if end is None or end <= now:
        raise BadProposal("expires_at", "bad_value", "A memory ends in the future, within a hundred years.")
    return end


def clean_value(value: Any) -> Any:
    """A value as it is kept: JSON, cleaned, of a bounded size. Raises BadProposal."""
    try:
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False))
    except ValueError:
        raise BadProposal("value", "bad_value", "NaN and infinity are no JSON.") from None
    except RecursionError:
        raise BadProposal("value", "bad_value", "The value is nested too deeply.") from None
    limit = VALUE_LIMIT if size > VALUE_LIMIT and not isinstance(value, str) else None
    if limit:
        raise BadProposal("value", "too_long", f"A value has at most {VALUE_LIMIT:,} characters of JSON.")
    return privacy.clean_json(value, string_limit=VALUE_LIMIT).value


def _text(text: str | None, key: str, value: Any) -> str:
    """The sentence: as given, else the value where it is one, else key and value. Longer ones are cut, visibly."""
    if text is None:
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text = words if isinstance(value, str) and words.strip() else f"{key.rpartition(':')[2]}: {words}"
    line = rendering.clean_line(text)
    if not line:
        raise BadProposal("text", "empty", "A memory says something: one sentence.")
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1].rstrip() + "…"


def _session(agent: Agent, external_id: str | None, *, is_needed: bool) -> Session | None:
    if external_id is None:
        return None
    try:
        wanted = privacy.clean_id(external_id)
    except privacy.BadIdentifier as bad:
        raise BadProposal("session", "bad_session", str(bad)) from None
    found = Session.objects.filter(agent=agent, external_id=wanted).select_related("project").order_by("pk").first()
    if found is None and is_needed:
        raise BadProposal("session", "unknown_session", "Nothing was captured in this session. Send its observations.")
    return found


def _cited(session: Session, quote: str) -> Cited:
    wanted = privacy.clean_text(quote).text
    if wanted.strip():
        holding = Observation.objects.filter(session=session, text__contains=wanted).order_by("-seq", "-pk")
        for observation in holding[:QUOTED_OBSERVATIONS]:
            if not grounding.why_never_evidence(observation.seen()):
                start = observation.text.index(wanted)
                return Cited(observation, start, start + len(wanted))
    raise BadProposal("quote", "quote_not_found", "The quote does not stand, word for word, in what this session said.")


def _scope(agent: Agent, scope: Literal["everyone"] | Sequence[str] | None) -> tuple[int, ...] | None:
    if scope is None:
        return None
    if isinstance(scope, str):
        if scope != "everyone":
            raise BadProposal("scope", "bad_scope", 'A scope is "everyone" or a list of agents.')
        return ()
    slugs = {slug.strip().casefold() for slug in scope}
    found = dict(
        Agent.objects.filter(project_id=agent.project_id, slug__in=[slug for slug in slugs if slug.isprintable()])
        .order_by("pk")
        .values_list("slug", "pk")
    )
    # An empty list would be nobody; it must not become everyone.
    if not slugs or slugs - set(found):
        raise BadProposal("scope", "unknown_agent", "A scope names agents of this project, at least one.")
    return tuple(found.values())


def refuse_unfit(learned: Learned) -> None:
    """Raises BadProposal for a statement that helps nobody and harms somebody: a secret, a payment number."""
    said = {row["category"] for row in findings_of(learned) if row["in"] != "quote"}
    placeholder = "[secret: " in learned.text or "[secret: " in json.dumps(learned.value, ensure_ascii=False)
    if placeholder or said.intersection(NEVER_PROPOSED):
        raise BadProposal(
            "text", "unfit", "A memory must not hold a secret or a payment number. Say where it is kept instead."
        )


def _subject(agent: Agent, learned: Learned, named: tuple[str, str] | None, session: Session | None) -> Subject:
    if named is not None:
        try:
            return Subject.objects.resolve(agent.project_id, *named)
        except BadSubject as bad:
            raise BadProposal("subject", "bad_subject", str(bad)) from None
    if session is not None:
        quoted = " ".join(cited.quote for cited in learned.cited)
        return subject_for(ABOUT.get(learned.type, "project"), session, quoted)
    return Subject.objects.of_project(agent.project)
