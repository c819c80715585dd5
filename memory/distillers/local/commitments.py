"""Who promised what by when, with the date worked out against the clock and zone of the session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from memory.distillers.local import dates
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, language_of, plain, segment, topic, without_openers
from memory.lint import faults
from memory.transcript import Candidate, Quote

KEPT_AFTER_DUE = timedelta(days=14)

_PROMISE = re.compile(
    r"^(?P<who>I|[Ww]e|[Aa]n? [\w ]{2,30}?|[Tt]he [\w #-]{2,40}?|[Oo]ur [\w ]{2,30}?"
    r"|[Yy]our [\w #-]{2,40}?|[Yy]ou)(?:'ll| will| shall)(?: \w+ly)? (?P<what>(?!not\b|be able\b"
    r"|need\b|have to\b|see\b)\w+.*)$"
)
_REQUEST = re.compile(
    r"^(?:please |kindly |can you |could you )?(?P<what>(?:call|phone|ring|email|e-mail|text|remind"
    r"|contact)\s+(?:me|us)\b.*)$",
    re.IGNORECASE,
)
_RECURRING = re.compile(
    r"^(?P<what>(?:the|our|el|la|los|las|der|die|das|le|les) .+?\b(?:must|has to|have to|needs to"
    r"|should|is due|are due|goes out|go out|debe[n]?|tiene[n]? que|muss|müssen|soll(?:en)?|doit"
    r"|doivent)\b.*"
    r"\b(?:every (?:\w+day|month|week|quarter|year)|each (?:\w+day|month|week)|(?:on the|by the|el día"
    r"|am|le) \d{1,2}(?:st|nd|rd|th|\.)?(?: of (?:each|every|the) month)?|cada \w+|jeden \w+"
    r"|chaque \w+)\b.*)$",
    re.IGNORECASE,
)
_PERIODIC = re.compile(
    r"\b(?:monthly|weekly|daily|quarterly|yearly|annual|every|each|mensual(?:es)?|semanal(?:es)?"
    r"|diario|anual|cada|monatlich\w*|wöchentlich\w*|jährlich\w*|jeden|mensuel\w*|hebdomadaire\w*"
    r"|chaque)\b",
    re.IGNORECASE,
)
_TASK_DUE = re.compile(
    r"\b(?P<what>[\w #-]{3,80}?)\s+due\s*(?:on|by|at|:)?\s+(?P<date>\d{4}-\d{2}-\d{2}\S*)", re.IGNORECASE
)
_REFERENCE = re.compile(r"\b(?:[A-Z]{2,5}-\d{2,}|#\d{3,})\b")
_ROUTINE = re.compile(
    r"\b(?:wait|hold|check|look|try|start|run|now|then|first|next step|be happy|be glad|let you know"
    r"|take care)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Promise:
    sentence: Sentence
    who: str
    what: str
    when: dates.When


def read(session: Session) -> Iterator[Candidate]:
    made = list(_promises(session))
    for promise in made:
        if not _is_replaced(promise, made):
            candidate = _candidate(session, promise)
            if candidate is not None:
                yield candidate
    yield from _recurring(session)


def _promises(session: Session) -> Iterator[_Promise]:
    said = [*session.said_by_user, *([] if session.is_coding else session.said_by_assistant)]
    for sentence in sorted(said, key=lambda one: (one.at, one.start)):
        if not sentence.is_firm:
            continue
        for clause in re.split(r";\s+|,\s+(?:and|but|so)\s+(?=\w+(?:'ll| will)\b)", without_openers(sentence.text)):
            if (promise := _promise(session, sentence, clause)) is not None:
                yield promise


def _promise(session: Session, sentence: Sentence, clause: str) -> _Promise | None:
    by_user = sentence.seen.role == "user"
    hit = _PROMISE.match(clause) or (_REQUEST.match(clause) if by_user else None)
    if hit is None or (when := dates.find(clause, session.moment(sentence.seen))) is None:
        return None
    what = plain((clause[: when.start] + clause[when.end :])[hit.start("what") :])
    if hit.re is _REQUEST:
        return _Promise(sentence, "", re.sub(r"\b(?:me|us)\b", "", what[0].lower() + what[1:]), when)
    if _ROUTINE.match(what) or (by_user and hit["who"] not in ("I", "we", "We")):
        return None
    return _Promise(sentence, "the customer" if by_user else _actor(hit["who"]), what, when)


def _actor(who: str) -> str:
    if who.casefold() in ("i", "we"):
        return "support"
    if who.casefold() == "you":
        return "the customer"
    return re.sub(r"^our ", "the ", re.sub(r"^your ", "the customer's ", who[0].lower() + who[1:]))


def _is_replaced(promise: _Promise, made: list[_Promise]) -> bool:
    """A later promise of the same thing by the same person stands in its place."""
    sign = (promise.who, topic(promise.what, 2))
    return any(other.sentence.at > promise.sentence.at and (other.who, topic(other.what, 2)) == sign for other in made)


def _candidate(session: Session, promise: _Promise) -> Candidate | None:
    said_at = session.moment(promise.sentence.seen)
    quotes = [promise.sentence.quote()]
    when, reference = promise.when, _REFERENCE.search(promise.sentence.text)
    if task := _task_nearby(session, promise):
        quotes.append(task[0])
        when = task[1]
        reference = reference or _REFERENCE.search(task[0].text)
    due = when.due(said_at)
    what = _of_the_customer(promise.what, promise.sentence.seen.role == "user")
    about = f" about {reference.group()}" if reference and reference.group() not in what else ""
    day = when.shown(said_at)
    if promise.who:
        text = as_sentence(f"{promise.who} will {what}{about} by {day}")
    else:
        text = as_sentence(f"the customer asked support to {what}{about} on {day}")
    if not fits(text) or faults(text):
        return None
    key = f"commitment:{segment(reference.group()) + '.' if reference else ''}{topic(what, 2)}"
    value = {"due": due.isoformat(), "by": promise.who or "support", "what": what}
    return Candidate("commitment", key, value, text, tuple(quotes), "customer", expires_at=due + KEPT_AFTER_DUE)


def _of_the_customer(what: str, by_user: bool) -> str:
    """In the third person: in the customer's mouth "you" is support, in support's it is the customer."""
    you, me = ("support", "the customer") if by_user else ("the customer", "support")
    text = re.sub(r"\s*,?\s*(?:your|our|my|local) time\b", "", what)
    text = re.sub(r"\byou\b", you, text)
    text = re.sub(r"\byour\b", f"{you}'s", text)
    text = re.sub(r"\b(?:me|us)\b", me, text)
    text = re.sub(r"\b(?:my|our)\b", f"{me}'s", text)
    return plain(text).strip(" .,!;:")


def _task_nearby(session: Session, promise: _Promise) -> tuple[Quote, dates.When] | None:
    """The task that was created for it, within the next few lines: its date is exact."""
    for seen in session.seen[promise.sentence.at + 1 : promise.sentence.at + 4]:
        if seen.role == "tool" and (hit := _TASK_DUE.search(seen.text[:2_000])):
            when = dates.find(hit["date"], session.moment(promise.sentence.seen))
            if when is not None and when.day == promise.when.day:
                return Quote(seen.ref, hit.start(), hit.end(), hit.group()), when
    return None


def _recurring(session: Session) -> Iterator[Candidate]:
    """A duty that comes back: "the monthly report must go out on the 5th"."""
    for sentence in session.said_by_user:
        body = without_openers(sentence.text)
        if not sentence.is_firm or not _RECURRING.match(body) or not _PERIODIC.search(body):
            continue
        text = as_sentence(body, language_of(sentence.text))
        if fits(text) and not faults(text):
            yield Candidate(
                "commitment",
                f"commitment:{topic(body)}",
                {"what": text, "recurs": True},
                text,
                (sentence.quote(),),
                "customer",
            )
