"""Who promised what by when, with the date worked out against the clock and zone of the session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local import dates
from memory.distillers.local.antecedents import resolved
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, segment, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_WHO = (
    r"(?P<who>I|[Ww]e|[Aa]n? [\w -]{2,30}?|[Tt]he [\w #-]{2,40}?|[Oo]ur [\w -]{2,30}?|[Yy]our [\w #-]{2,40}?|[Yy]ou"
    r"|[Ss]ome(?:one|body)(?: (?:from|in|on|of) [\w -]{2,30}?)?|[Oo]ne of our [\w -]{2,30}?"
    r"|(?!It|This|That|There|These|Those|They|He|She|Then|What|Which|Who)[A-Z][a-z]+(?: [A-Z][a-z]+)?"
    r"(?: (?:from|in|of) (?:the |our )?[\w -]{2,25}?)?)"
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
    r"|starts|ends|expires|renews|is delivered|should (?:arrive|reach|be (?:in|with|back|ready|fixed|live))"
    r"|(?:has been|is) (?:booked|planned|scheduled|moved|set|confirmed) (?:for|to))\b.*)$"
)
_EXPECTED = re.compile(r"^(?P<who>[Yy]ou) (?P<verb>can expect|should (?:receive|have|get|see|hear)) (?P<what>.+)$")
_REQUEST = re.compile(
    r"^(?:please |kindly |can you |could you )?(?P<what>(?:call|phone|ring|email|e-mail|text|contact|remind|ping"
    r"|message"
    r"|notify|wake|send|give|get back to|follow up with|deliver)\s+(?:me|us)\b.*)$",
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
_RECURRING_EAST = re.compile(
    r"^\S{2,12}?(?:必须|要|需要|应该)(?:在)?每(?:周|月|个月|年|天|星期)[^，。]*(?:发|交|提交|完成|更新)"
    r"|^.{2,16}は毎(?:週|月|日|年).*(?:提出|送|出し|行|更新|必要)"
)
_WISH_BEHIND = re.compile(
    r",?\s+(?:and|und|y|et)\s+(?=(?:please|bitte|por favor|merci|always|immer|siempre|toujours)\b)", re.IGNORECASE
)
_PERIODIC = any_of(
    r"\b(?:monthly|weekly|daily|quarterly|yearly|annual|every|each)\b",
    r"\b(?:mensual(?:es)?|semanal(?:es)?|diario|anual|cada|mensuel\w*|hebdomadaire\w*|chaque)\b",
    r"\b(?:monatlich\w*|wöchentlich\w*|jährlich\w*|jeden|jede|monats\w*|wochen\w*)\b|每(?:周|月|天|个|年|星期)"
    r"|毎(?:週|月|日|年)",
)
_TASK_DUE = re.compile(
    r"(?P<what>[\w][\w #-]{3,80}?)\s+due\s*(?:on|by|at|:)?\s+(?P<date>\d{4}-\d{2}-\d{2}\S*)", re.IGNORECASE
)
_REFERENCE = re.compile(r"\b[A-Z]{1,5}-\d{2,}\b|#\d{3,}\b")
_ROUTINE = any_of(
    r"\b(?:wait|hold|check|look|try|start|run|now|then|first|next step|be happy|be glad|let you know|take care)\b"
)
# What a customer owes somebody; where they will go and what they will try is nobody's business.
_OWED = any_of(
    r"^(?:\w+ly )?(?:send|pay|return|bring|sign|provide|deliver|transfer|submit|upload|ship|confirm|give|forward"
    r"|share|reply|answer|call|e-?mail"
    r"|mail|settle|cancel|renew|hand|let|get back|have (?:it|the|my|our))\b"
)
_CLAUSES = any_of(
    r";\s+",
    r",\s+(?:and|but|so)\s+(?=\w+(?:'ll| will)\b)",
    r",?\s+(?:and|but|so)\s+(?=(?:I|we|a|the|our|you)\b[^,;]{0,40}?(?:'ll| will)\b)",
)
_SPEAKS = any_of(
    r"\b(?:call|phone|ring|contact|write|talk|speak|e-?mail|text|tell|inform|update|get back"
    r"|follow-up)\b"
)
_LEADS = ("by", "on", "until", "till", "before", "no later than", "from")
_TAIL = re.compile(
    r"(?:(?:^|[,;]?\s+|,)(?:and|but|so|then|if|unless|because|when|since|as|instead)\b|(?:^|,\s*)(?:I|we|it|that"
    r"|the)\b).*$",
    re.IGNORECASE,
)
_CONDITION = any_of(
    r"\b(?:if|unless|provided|as long as|in case|once) (?:i|we|you|the|it|there|that|they|nothing|your|our)\b"
)
_STATE = re.compile(r"ends|expires|renews|starts")
_DECLINED = any_of(
    r"\b(?:is|are) (?:bad|impossible|no good|too late|not (?:good|possible))\b|\b(?:does(?:n't| not)"
    r"|won't) (?:work|suit)\b",
    r"\bcan(?:'t|not) (?:make|do|be (?:there|home|in))\b|^no,? (?:thanks|thank you|that|don't|please don't)\b"
    r"|\bdon't bother\b",
    r"\b(?:i'm|i am|we're|we are) (?:away|abroad|not (?:in|at home|available|there))\b|^(?:das|da) (?:geht"
    r"|passt) nicht\b|\bno me viene bien\b",
)
_HOURS = re.compile(
    r"(?:between|from) [\d:.]+ ?(?:am|pm)? (?:and|to|till|until) [\d:.]+ ?(?:am|pm|o'clock)?", re.IGNORECASE
)
_CORRECTED = any_of(r"^(?:actually|correction|sorry|i misspoke|make that|let me correct)\b", r"\binstead[.!]?$")
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
        if (
            not (_is_replaced(promise, made) or _is_declined(session, promise))
            and (candidate := _candidate(session, promise)) is not None
        ):
            told.update(_REFERENCE.findall(candidate.text))
            yield candidate
    if not session.is_coding:
        yield from (task for task in _tasks(session) if told.isdisjoint(_REFERENCE.findall(task.text)))
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
    said_at = session.moment(sentence.seen)
    if (
        hit is None
        or _CONDITION.search(clause)
        or (when := dates.find(clause, said_at)) is None
        or when.is_over_soon(said_at)
    ):
        return None
    start = hit.start("what")
    by = when.lead if when.lead in _LEADS else "by" if when.is_end else "on"
    before, after = _VAGUE_FIRST.sub("", plain(clause[start : when.start])), plain(clause[max(start, when.end) :])
    before = resolved(session, sentence, before)
    if hit.re is _REQUEST:
        ask = re.sub(r"\b(?:me|us)\b", "them", before[:1].lower() + before[1:])
        ask = re.sub(r"^(call|phone|ring|contact|text|e-?mail) them\b", r"\1", ask)
        whom = "the agent" if session.is_coding else "support"
        return _Promise(sentence, "", f"asked {whom} to", plain(ask), by, after, when)
    if _ROUTINE.match(before) or not before:
        return None
    if by_user and (hit["who"] not in ("I", "we", "We") or not _OWED.match(before)):
        return None
    verb = {_SWORN: "promised that", _ARRANGED: "has", _PRESENT: ""}.get(hit.re, "will")
    if hit.re is _EXPECTED:
        verb = hit["verb"]
    who = _customer(session) if by_user else _actor(hit["who"])
    return _Promise(sentence, who, verb, before, by, after, when)


def _customer(session: Session) -> str:
    """Whoever speaks as the user: where code is worked on there are no customers."""
    return "the user" if session.is_coding else "the customer"


def _actor(who: str) -> str:
    if who.casefold() in ("i", "we"):
        return "support"
    if who.casefold() == "you":
        return "the customer"
    if re.match(r"(?:an?|the|our|your|some\w+|one)\b", who, re.IGNORECASE):
        who = who[0].lower() + who[1:]
    return re.sub(r"^our |(?<=^one of )our ", "the ", re.sub(r"^your ", "the customer's ", who))


def _is_replaced(promise: _Promise, made: list[_Promise]) -> bool:
    """A later promise of the same thing by the same person stands in its place, and so does one that corrects it."""
    sign = (promise.who, topic(promise.before, 2))
    return any(
        other.sentence.at > promise.sentence.at
        and ((other.who, topic(other.before, 2)) == sign or (other.who == promise.who and _corrects(other)))
        for other in made
    )


def _is_declined(session: Session, promise: _Promise) -> bool:
    """Whether the other one says in the next message that this does not suit."""
    if promise.sentence.seen.role == "user":
        return False
    answer = [said for said in session.said_by_user if said.at > promise.sentence.at]
    return any(_DECLINED.search(said.text) for said in answer if said.at == answer[0].at)


def _corrects(promise: _Promise) -> bool:
    return _CORRECTED.search(promise.sentence.text) is not None


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
    user, support = _customer(session), "the agent" if session.is_coding else "support"
    you, me = (support, user) if by_user else (user, support)
    what, rest = _in_third_person(promise.before, you, me), _in_third_person(promise.after, you, me)
    named = reference.group() if reference else ""
    about = ""
    if named and named not in f"{promise.who} {what} {rest}":
        about = f" about {named}" if _SPEAKS.search(what) else f" ({named})"
    head = f"{promise.who or user} {promise.verb} {what}{about} {promise.by} {when.shown(said_at)}"
    hours = _HOURS.match(rest)
    tails = [hours.group()] if hours else [_TAIL.sub("", rest), ""]
    options = (as_sentence(f"{plain(head)} {end}") for end in dict.fromkeys(tails))
    text = next((option for option in options if fits(option) and not faults(option)), "")
    if not text:
        return None
    key = f"commitment:{segment(named) + '.' if named else ''}{topic(what)}"
    about_whom = "person" if session.is_coding else "customer"
    ends = due + dates.KEPT_AFTER_DUE
    if promise.verb == "" and (state := _STATE.match(what)) is not None:
        # Nobody promised it: so it stands in the contract.
        key = f"customer_fact:{topic(promise.who.removeprefix('the customer'))}.{segment(state.group())}"
        told = {"on": promise.when.day.isoformat()}
        return Candidate("customer_fact", key, told, text, tuple(quotes), about_whom, expires_at=ends)
    value = {"due": due.isoformat(), "by": promise.who or support, "what": what}
    return Candidate("commitment", key, value, text, tuple(quotes), about_whom, expires_at=ends)


def _in_third_person(what: str, you: str, me: str) -> str:
    """In the customer's mouth "you" is support, in support's it is the customer."""
    text = re.sub(r"\s*,?\s*(?:your|our|my|local) time\b|\s+(?:my|your|our)sel(?:f|ves)\b", "", what)
    text = re.sub(r"\byou\b", you, text)
    text = re.sub(r"\byour\b", f"{you}'s", text)
    text = re.sub(r"\b(?:I'm|I am|we're|we are)\b", f"{me} is", text)
    text = re.sub(r"\b(?:me|us|I|we)\b(?!')", me, text)
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
        key = f"commitment:{segment(reference.group()) + '.' if reference else ''}{topic(what)}"
        due = when.due(session.moment(seen))
        if reference and fits(text) and not faults(text):
            place = Quote(seen.ref, hit.start(), hit.end(), hit.group())
            value = {"due": due.isoformat(), "by": "support", "what": what}
            yield Candidate("commitment", key, value, text, (place,), "customer", expires_at=due + dates.KEPT_AFTER_DUE)


def _recurring(session: Session) -> Iterator[Candidate]:
    """A duty that comes back: "the monthly report must go out on the 5th"."""
    for sentence in session.said_by_user:
        body = _WISH_BEHIND.split(without_openers(sentence.text))[0]
        east = next((part for part in re.split(r"[，、]", body) if _RECURRING_EAST.match(part)), "")
        if not sentence.is_firm or not (east or (_RECURRING.match(body) and _PERIODIC.search(body))):
            continue
        body = east or body
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
