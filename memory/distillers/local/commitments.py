"""Who promised what by when, with the date worked out against the clock and zone of the session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from memory.distillers.local import dates
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, segment, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

KEPT_AFTER_DUE = timedelta(days=14)

_WHO = (
    r"(?P<who>I|[Ww]e|[Aa]n? [\w -]{2,30}?|[Tt]he [\w #-]{2,40}?|[Oo]ur [\w -]{2,30}?"
    r"|[Yy]our [\w #-]{2,40}?|[Yy]ou)"
)
_PROMISE = re.compile(
    rf"^{_WHO}(?:'ll| will| shall)(?: \w+ly)? (?P<what>(?!not\b|be able\b|need\b|have to\b|see\b)\w+.*)$"
)
_SWORN = re.compile(
    r"^(?P<who>I|[Ww]e)(?:'ll| will| can)? (?:promise|guarantee|assure you|confirm)(?: you)?(?: that)? (?P<what>.+)$"
)
_ARRANGED = re.compile(
    r"^(?P<who>I|[Ww]e)(?:'ve| have) (?:just |now |already )?(?P<what>(?:scheduled|booked|arranged"
    r"|set up|planned|ordered) .+)$"
)
_PRESENT = re.compile(
    r"^(?P<who>[Yy]our [\w #-]{2,40}?|[Tt]he [\w #-]{2,40}?) (?P<what>(?:ships|arrives|leaves|goes out"
    r"|is due|is scheduled|takes place"
    r"|starts|ends|expires|renews|is delivered)\b.*)$"
)
_ELSEWHERE = {
    "de": (
        re.compile(
            r"^(?:ich|wir) (?!kann|können|könnte|möchte|muss|hoffe|bin|habe)\w+ |^Sie (?:erhalten|bekommen) ", re.I
        ),
        "Zusage vom {day}: {said}",
    ),
    "es": (
        re.compile(
            r"^(?:me comprometo|nos comprometemos) a |\b(?:le|les|te|se lo) \w+(?:ré|remos|rá)\b|^\w+(?:ré"
            r"|remos) |^recibirá",
            re.I,
        ),
        "Compromiso del {day}: {said}",
    ),
    "fr": (
        re.compile(r"^(?:je|nous) (?:vous )?\w+(?:rai|rons)\b|^vous recevrez", re.I),
        "Engagement du {day} : {said}",
    ),
}
_EXPECTED = re.compile(r"^(?P<who>[Yy]ou) (?P<verb>can expect|should (?:receive|have|get|see|hear)) (?P<what>.+)$")
_REQUEST = re.compile(
    r"^(?:please |kindly |can you |could you )?(?P<what>(?:call|phone|ring|email|e-mail|text|remind"
    r"|contact)\s+(?:me|us)\b.*)$",
    re.IGNORECASE,
)
_RECURRING = re.compile(
    r"^(?:the|our|el|la|los|las|der|die|das|le|les) .+?\b(?:must|has to|have to|needs to|should|is due"
    r"|are due|goes out"
    r"|go out|debe[n]?|tiene[n]? que|muss|müssen|soll(?:en)?|doit|doivent)\b.*"
    r"\b(?:every (?:\w+day|month|week|quarter|year)|each (?:\w+day|month|week)"
    r"|(?:on the|by the|el día|am|le) \d{1,2}(?:st|nd|rd|th|\.)?|cada \w+|jeden \w+|chaque \w+)\b.*$",
    re.IGNORECASE,
)
_PERIODIC = any_of(
    r"\b(?:monthly|weekly|daily|quarterly|yearly|annual|every|each)\b",
    r"\b(?:mensual(?:es)?|semanal(?:es)?|diario|anual|cada|mensuel\w*|hebdomadaire\w*|chaque)\b",
    r"\b(?:monatlich\w*|wöchentlich\w*|jährlich\w*|jeden|monats\w+|wochen\w+)\b",
)
_TASK_DUE = re.compile(
    r"(?P<what>[\w][\w #-]{3,80}?)\s+due\s*(?:on|by|at|:)?\s+(?P<date>\d{4}-\d{2}-\d{2}\S*)", re.IGNORECASE
)
_REFERENCE = re.compile(r"\b[A-Z]{1,5}-\d{2,}\b|#\d{3,}\b")
_ROUTINE = any_of(
    r"\b(?:wait|hold|check|look|try|start|run|now|then|first|next step|be happy|be glad|let you know|take care)\b"
)
_CLAUSES = any_of(
    r";\s+",
    r",\s+(?:and|but|so)\s+(?=\w+(?:'ll| will)\b)",
    r",?\s+(?:and|but|so)\s+(?=(?:I|we|a|the|our|you)\b[^,;]{0,40}?(?:'ll| will)\b)",
)
_SPEAKS = any_of(r"\b(?:call|phone|ring|contact|write|talk|speak|e-?mail|text|tell|inform|update|get back|follow-up)\b")
_LEAD_WORD = re.compile(r"(?:by|on|until|till|before|no later than|from)\s", re.IGNORECASE)
_VAGUE_FIRST = re.compile(r"^\w+ (?:this|that|it|these) and (?=\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Promise:
    """`who verb before · by DATE · after`; who is "" where a customer asked for something."""

    sentence: Sentence
    who: str
    verb: str
    before: str
    by: str
    after: str
    when: dates.When


def read(session: Session) -> Iterator[Candidate]:
    made = list(_promises(session))
    told: set[str] = set()
    for promise in made:
        if not _is_replaced(promise, made) and (candidate := _candidate(session, promise)) is not None:
            told.update(_REFERENCE.findall(candidate.text))
            yield candidate
    if not session.is_coding:
        yield from (task for task in _tasks(session) if told.isdisjoint(_REFERENCE.findall(task.text)))
    if session.language in _ELSEWHERE and not session.is_coding:
        yield from _promised_elsewhere(session, *_ELSEWHERE[session.language])
    yield from _recurring(session)


def _promises(session: Session) -> Iterator[_Promise]:
    said = [*session.said_by_user, *([] if session.is_coding else session.said_by_assistant)]
    for sentence in sorted(said, key=lambda one: (one.at, one.start)):
        if not sentence.is_firm:
            continue
        for clause in _CLAUSES.split(without_openers(sentence.text)):
            if (promise := _promise(session, sentence, clause)) is not None:
                yield promise


def _promise(session: Session, sentence: Sentence, clause: str) -> _Promise | None:
    by_user = sentence.seen.role == "user"
    patterns = (_PROMISE, _REQUEST) if by_user else (_PROMISE, _SWORN, _ARRANGED, _PRESENT, _EXPECTED)
    hit = next((hit for pattern in patterns if (hit := pattern.match(clause))), None)
    if hit is None or (when := dates.find(clause, session.moment(sentence.seen))) is None:
        return None
    start = hit.start("what")
    lead = _LEAD_WORD.match(clause[when.start : when.end])
    by = (
        lead.group().strip().casefold()
        if lead
        else "by"
        if clause[when.start :].startswith(("in ", "within "))
        else "on"
    )
    before, after = _VAGUE_FIRST.sub("", plain(clause[start : when.start])), plain(clause[max(start, when.end) :])
    if hit.re is _REQUEST:
        ask = re.sub(r"\b(?:me|us)\b", "", before[:1].lower() + before[1:])
        return _Promise(sentence, "", "asked support to", plain(ask), by, after, when)
    if _ROUTINE.match(before) or not before or (by_user and hit["who"] not in ("I", "we", "We")):
        return None
    verb = {_SWORN: "promised that", _ARRANGED: "has", _PRESENT: ""}.get(hit.re, "will")
    if hit.re is _EXPECTED:
        verb = hit["verb"]
    who = "the customer" if by_user else _actor(hit["who"])
    return _Promise(sentence, who, verb, before, by, after, when)


def _actor(who: str) -> str:
    if who.casefold() in ("i", "we"):
        return "support"
    if who.casefold() == "you":
        return "the customer"
    return re.sub(r"^our ", "the ", re.sub(r"^your ", "the customer's ", who[0].lower() + who[1:]))


def _is_replaced(promise: _Promise, made: list[_Promise]) -> bool:
    """A later promise of the same thing by the same person stands in its place."""
    sign = (promise.who, topic(promise.before, 2))
    return any(
        other.sentence.at > promise.sentence.at and (other.who, topic(other.before, 2)) == sign for other in made
    )


def _candidate(session: Session, promise: _Promise) -> Candidate | None:
    said_at = session.moment(promise.sentence.seen)
    quotes = [promise.sentence.quote()]
    when, reference = promise.when, _REFERENCE.search(promise.sentence.text)
    if task := _task_nearby(session, promise):
        quotes.append(task[0])
        when = task[1]
        reference = reference or _REFERENCE.search(task[0].text)
    due = when.due(said_at)
    by_user = promise.sentence.seen.role == "user"
    what, rest = _of_the_customer(promise.before, by_user), _of_the_customer(promise.after, by_user)
    named = reference.group() if reference else ""
    about = ""
    if named and named not in f"{promise.who} {what} {rest}":
        about = f" about {named}" if _SPEAKS.search(what) else f" ({named})"
    parts = (promise.who or "the customer", promise.verb, f"{what}{about}", promise.by, when.shown(said_at), rest)
    text = as_sentence(" ".join(part for part in parts if part))
    if not fits(text) or faults(text):
        return None
    key = f"commitment:{segment(named) + '.' if named else ''}{topic(what, 2)}"
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
    """The task that was made for it, a few lines before or after: its date is exact."""
    for seen in session.seen[max(0, promise.sentence.at - 3) : promise.sentence.at + 4]:
        if seen.role == "tool" and (hit := _TASK_DUE.search(seen.text[:2_000])):
            when = dates.find(hit["date"], session.moment(promise.sentence.seen))
            if when is not None and when.day == promise.when.day:
                return Quote(seen.ref, hit.start(), hit.end(), hit.group()), when
    return None


def _tasks(session: Session) -> Iterator[Candidate]:
    """A task with a date that an office tool made, whatever was said about it."""
    for seen in session.seen:
        hit = _TASK_DUE.search(seen.text[:2_000]) if seen.role == "tool" else None
        when = dates.find(hit["date"], session.moment(seen)) if hit else None
        if hit is None or when is None:
            continue
        reference = _REFERENCE.search(hit["what"])
        what = plain(hit["what"])
        text = as_sentence(f"{what} is due by {when.shown(session.moment(seen))}")
        key = f"commitment:{segment(reference.group()) + '.' if reference else ''}{topic(what, 2)}"
        due = when.due(session.moment(seen))
        if reference and fits(text) and not faults(text):
            place = Quote(seen.ref, hit.start(), hit.end(), hit.group())
            value = {"due": due.isoformat(), "by": "support", "what": what}
            yield Candidate("commitment", key, value, text, (place,), "customer", expires_at=due + KEPT_AFTER_DUE)


def _promised_elsewhere(session: Session, pattern: re.Pattern[str], form: str) -> Iterator[Candidate]:
    """In another language the speaker's own words stay, with the date worked out in their place."""
    for said in session.said_by_assistant:
        body = without_openers(said.text)
        said_at = session.moment(said.seen)
        when = dates.find(body, said_at)
        if not said.is_firm or when is None or not pattern.search(body):
            continue
        lead = re.match(
            r"(?:bis|am|para el|hasta el|antes del|el|avant|le|d'ici)\s+", body[when.start : when.end], re.IGNORECASE
        )
        dated = body[: when.start] + (lead.group() if lead else "") + when.shown(said_at) + body[when.end :]
        text = as_sentence(form.format(day=said_at.date().isoformat(), said=dated), session.language)
        due = when.due(said_at)
        if fits(text) and not faults(text):
            value = {"due": due.isoformat(), "by": "support", "what": plain(dated)}
            key = f"commitment:{topic(body[: when.start] + body[when.end :])}"
            yield Candidate(
                "commitment", key, value, text, (said.quote(),), "customer", expires_at=due + KEPT_AFTER_DUE
            )


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
