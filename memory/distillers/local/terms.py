"""What was switched on for a customer and until when, and the rules that support told after looking them up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time

from memory.distillers.local import dates
from memory.distillers.local.session import Session, Step, arguments_of, quote
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_UNTIL = re.compile(
    r"^(?P<what>.{3,80}?)\s+(?:is\s+|was\s+)?(?P<state>enabled|activated|active|extended|valid"
    r"|unlocked|reserved|paused|suspended|waived|open|switched on|blocked|on hold"
    r"|prolonged)\s+(?:for \S+ )?(?:until|till|through|to)\s+(?P<date>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_GENERAL = any_of(
    r"^(?:all|every|any|no|each)\s+[\w\s-]{2,40}?\s+\w+\b.*",
    r"^(?!(?:This|Yes|Thanks|Details) )(?:[A-Z]\w+ )?(?<![a-z])[A-Za-z]\w+s(?: \w+){0,4}? (?:can|must|may|are|have"
    r"|need|expire"
    r"|ship|take|cost|last|close|open|arrive)\b.*",
    r"^(?!(?:The|This|That|It|There|Your|Our|My|You|We|I|He|She|They|Today"
    r"|Here) )[A-Z][\w -]{3,40}? (?:costs|takes|lasts|expires|needs|requires)\b.*",
    r"^(?:One|A|An|Each|Every) \w+(?: \w+)? (?:covers|includes|allows|contains|costs|lasts|holds|is valid|has"
    r"|needs|requires)\b.*",
    r"^(?:for|with|on|in|after|above|below|over|under|within|outside) (?!this|that"
    r"|the moment)[^,]{3,60}?,? (?:\w+ ){1,4}?"
    r"(?:has|have|needs?|must|is|are|takes?|costs?|can|cannot|applies|apply|expires?)\b.*",
)
_GENERAL_ABROAD = {
    "de": any_of(
        r"\b(?:dürfen|müssen|können|sind|ist|gilt|gelten|kostet|kosten|dauert|dauern|verfallen|verfällt|benötig\w+"
        r"|braucht)\b"
    ),
    "es": any_of(r"\b(?:pueden?|deben?|son|es|cuestan?|tardan?|caducan?|requieren?|necesitan?|se aplican?)\b"),
    "fr": any_of(r"\b(?:peu(?:t|vent)|doi(?:t|vent)|sont|est|coûtent?|prend|prennent|expirent?|nécessitent?|faut)\b"),
    "zh": any_of(r"需要|必须|可以|有效期|收取|不能|不可|超过|以内"),
    "ja": any_of(r"必要|できます|できません|有効|かかります|以内|無料|となります"),
}
_TO_SOMEBODY = any_of(
    r"\b(?:you|yours?|i|my|me|we'll|ihr\w*|sie|ihnen|dein\w*|du|ich|mir|usted|su|sus|tu|tus|yo|mi|me|vous|votre|vos"
    r"|je|mon)\b"
    r"|您|你|我|お客様|ご注文"
)
_LABELLED = re.compile(r"^[\w #*-]{2,25}:\s")  # a line of a list
# "You can return items within 60 days" is said to one and holds for all.
_SAID_TO_ALL = re.compile(
    r"^You (?P<rest>(?:can|may|must|cannot|can't) [^.]*?\b(?:within|up to|at most|at least|no more than|before|after"
    r"|every) \d+ "
    r"(?:business |working )?(?:minutes?|hours?|days?|weeks?|months?|years?|items?|users?|seats?|times?|%"
    r"|percent)\b[^.]*)"
)
_MEASURE = re.compile(r"\b\d+(?:[.,]\d+)?\b|[$€£]\s?\d|\bnon-?refundable\b", re.IGNORECASE)
_LOOKED_UP = re.compile(
    r"\b(?:faq|polic(?:y|ies)|search\w*|knowledge|guideline|kb|look\w*[ -]?up|article|docs?|handbook|manual|terms"
    r"|wiki|conditions)\b",
    re.IGNORECASE,
)


def read(session: Session) -> Iterator[Candidate]:
    if not session.is_coding:
        yield from _switched(session)
        yield from _rules_told(session)


def _switched(session: Session) -> Iterator[Candidate]:
    """What a tool's result says was switched, and until when."""
    for step in session.steps:
        seen = step.result or step.call
        if seen.role != "tool":
            continue
        yield from _switched_in(session, seen.ref, seen.text, session.moment(seen))
    answered = {id(step.result) for step in session.steps}
    for seen in session.seen:
        if seen.kind == "tool_result" and id(seen) not in answered:
            yield from _switched_in(session, seen.ref, seen.text, session.moment(seen))


def _switched_in(session: Session, ref: int, text: str, said_at: datetime) -> Iterator[Candidate]:
    for hit in _UNTIL.finditer(text[:2_000]):
        when = dates.find(hit["date"], said_at)
        what = plain(hit["what"])
        if when is None or len(what.split()) > 8:
            continue
        ends = datetime.combine(when.day, time(23, 59), tzinfo=said_at.tzinfo)
        subject = what[0].lower() + what[1:] if what.split()[0].istitle() else what
        subject = re.sub(r"^(?:the|a|an) ", "", subject)
        subject = re.sub(r"^(feature|module|option|add-on|plug-?in|pilot|trial) ([\w.-]+)$", r"\1 “\2”", subject)
        sentence = f"The {subject} is {hit['state'].casefold()} for the customer until {when.day.isoformat()}."
        if faults(sentence):
            continue
        end = hit.start("date") + when.end
        place = Quote(ref, hit.start(), end, text[hit.start() : end])
        value = {"state": hit["state"].casefold(), "until": when.day.isoformat()}
        yield Candidate(
            "customer_fact", f"customer_fact:{topic(what)}", value, sentence, (place,), "customer", expires_at=ends
        )
    yield from _switched_by(ref, text, said_at)


def _switched_by(ref: int, text: str, said_at: datetime) -> Iterator[Candidate]:
    """The same as a record: `{"feature": "audit_log", "enabled_until": "2026-11-30"}`."""
    record = arguments_of(text)
    name = next((record[key] for key in ("feature", "service", "option", "addon", "product") if record.get(key)), None)
    ends = next((key for key in record if key.endswith(("_until", "until", "valid_to"))), None)
    when = dates.find(str(record[ends]), said_at) if ends else None
    if not isinstance(name, str) or when is None or not re.fullmatch(r"[\w -]{3,40}", name):
        return
    state = (ends or "").removesuffix("until").rstrip("_") or "enabled"
    shown = name.replace("_", " ")
    sentence = f"The {shown} is {state} for the customer until {when.day.isoformat()}."
    start = text.find(name)
    end = text.find(when.day.isoformat()) + 10
    if state not in ("enabled", "active", "valid", "extended", "open", "paused", "suspended") or not 0 <= start < end:
        return
    yield Candidate(
        "customer_fact",
        f"customer_fact:{topic(shown)}",
        {"state": state, "until": when.day.isoformat()},
        sentence,
        (Quote(ref, start, end, text[start:end]),),
        "customer",
        expires_at=datetime.combine(when.day, time(23, 59), tzinfo=said_at.tzinfo),
    )


def _rules_told(session: Session) -> Iterator[Candidate]:
    """A general rule with a number in it, told after looking it up: it holds for every customer."""
    looked_up = [step for step in session.steps if _LOOKED_UP.search(f"{step.call.tool} {step.call.text[:300]}")]
    for said in session.said_by_assistant:
        source = next((step for step in reversed(looked_up) if step.at < said.at), None)
        if source is None or not said.is_firm or (rule := _as_rule(session, said.text)) is None:
            continue
        language = language_of(said.text)
        text = as_sentence(rule, language)
        backing = _backing(source, rule)
        if backing is None or not fits(text) or faults(text):
            continue
        yield Candidate(
            "environment", f"environment:{topic(rule)}", {"rule": text}, text, (said.quote(), backing), "project"
        )


def _as_rule(session: Session, told: str) -> str | None:
    """The sentence as one that holds for everybody, or None when it is about the one who asked."""
    body = without_openers(told)
    if _LABELLED.match(body):
        return None
    if (to_all := _SAID_TO_ALL.match(body)) and not re.search(r"\b(?:your|i|my)\b", to_all["rest"], re.IGNORECASE):
        return f"Customers {to_all['rest']}"
    if not _MEASURE.search(body) or _TO_SOMEBODY.search(body):
        return None
    language = language_of(body)
    if language == "en":
        return body if _GENERAL.match(body) else None
    abroad = _GENERAL_ABROAD.get(language) if language == session.language else None
    return body if abroad is not None and abroad.search(body) else None


def _backing(source: Step, rule: str) -> Quote | None:
    """The line of what was looked up that holds the rule's number; the question, where the answer was not recorded."""
    result = source.result.text if source.result is not None else ""
    numbers = re.findall(r"\d+(?:[.,]\d+)?", rule)
    if source.result is None or source.result is source.call or not re.search(r"\d", result):
        return quote(source.call, source.call.text.strip()[:200])
    for line in result.split("\n"):
        if any(re.search(rf"(?<!\d){re.escape(number)}(?!\d)", line) for number in numbers):
            return quote(source.result, line.strip()[:200])
    return None
