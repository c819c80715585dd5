"""What a customer says about themselves, what was switched on for them and until when, and what the rules are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time

from memory.distillers.local import dates
from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session, quote
from memory.distillers.local.wording import as_sentence, fits, plain, segment, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_PLACE = r"(?P<place>[A-ZÀ-Ý][\w'’.-]*(?:[ -](?:(?:de|la|am|of|upon|sur|den|le)[ -])?[A-ZÀ-Ý][\w'’.-]*)*)"
_LIVES = re.compile(
    r"\b(?:I|[Ww]e)(?: (?:now |still )?(?:live|reside)|(?:'m| am|'re| are) (?:based|located)|(?:'ve"
    r"| have) (?:been living|lived))"
    r" (?:in|near) " + _PLACE + r"|\b[Vv]iv(?:o|imos) en (?P<es>[A-ZÀ-Ý]\w+)|\b[Ii]ch wohne in (?P<de>[A-ZÀ-Ý]\w+)"
    r"|\b[Jj]'habite à (?P<fr>[A-ZÀ-Ý]\w+)|我住在(?P<zh>[\u4e00-\u9fff]{2,6})"
)
_MOVED = re.compile(
    r"\b(?:I|[Ww]e)(?:'ve| have)? (?:just |recently )?(?:moved|relocated)(?: (?:our )?(?:office|home"
    r"|house|company))? "
    r"(?:from (?P<old>[A-ZÀ-Ý][\w'’-]*(?: [A-ZÀ-Ý][\w'’-]*)*) )?to " + _PLACE
)
_NAME = r"[A-ZÀ-Ý][\w&-]*(?:\.\w+)?(?: [A-ZÀ-Ý][\w&-]*){0,3}"
_WORKS = re.compile(
    rf"\b(?:I work (?:at|for)|[Mm]y (?:company|employer) is(?: called)?|I(?:'m| am) with) (?P<company>{_NAME})"
)
_PLAN = re.compile(
    r"\b(?:on|have|use|using|(?:switched|upgraded|downgraded|changed)(?: from [\w ]+?)? to) (?:the "
    r"|your |a |an )?(?P<plan>[A-Z]\w+(?: [A-Z]\w+)?) (?:plan|tier"
    r"|subscription|package)\b"
)
_SEATS = re.compile(
    r"\b(?:we (?:have|are|employ|need)|(?:company|shop|bakery|firm|team|business|\w+ery) (?:with"
    r"|of)) (?:about |around |currently )?(?P<count>\d[\d,.]*) "
    r"(?P<what>employees|people|seats|users|agents|licen[cs]es|stores|locations|developers)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bmy (?P<what>account|customer|client|member|membership|contract|policy)(?: (?:number|no\.?|id))? is "
    r"#?(?P<number>[A-Z0-9][\w-]*\d[\w-]*)",
    re.IGNORECASE,
)
_TIER = re.compile(
    r"\b(?:I'm|I am) (?:a |an |on )?(?:the )?(?P<tier>bronze|silver|gold|platinum|diamond|premium"
    r"|basic|free)(?: (?:member|tier|level|customer))?\s*[.!]?$",
    re.IGNORECASE,
)
_OFFICE = re.compile(
    r"\b[Oo]ur (?P<what>office|headquarters|shop|store|warehouse|company) is (?:based |located )?in " + _PLACE
)
_DEVICE = re.compile(
    r"\b[Ii](?:'m| am)? (?:use|using|on|have|run)\b.*?\b(?P<device>(?:Android|iOS|iPadOS|Windows|macOS"
    r"|Ubuntu|iPhone|Pixel|Galaxy) [\w.]+)"
)
_TRANSIENT = any_of(
    r"\b(?:this week|this month|today|right now|at the moment|currently|for now|until|no wait|used to"
    r"|before|any ?more)\b",
    r"\b(?:visiting|on (?:holiday|vacation|a trip)|travel\w*|next (?:week|month|year)|soon|planning|if)\b",
)
_UNTIL = re.compile(
    r"^(?P<what>.{3,80}?)\s+(?:is\s+|was\s+)?(?P<state>enabled|activated|active|extended|valid"
    r"|unlocked|reserved|paused|suspended|waived|open|switched on|blocked|on hold"
    r"|prolonged)\s+(?:for \S+ )?(?:until|till|through|to)\s+(?P<date>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_GENERAL = any_of(
    r"^(?:all|every|any|no|each)\s+[\w\s-]{2,40}?\s+\w+\b.*",
    r"^(?!(?:This|Yes|Thanks|Details) )[A-Z]\w+s(?: \w+){0,4}? (?:can|must|may|are|have to|need|expire"
    r"|ship|take|cost|last|close|open|arrive)\b.*",
    r"^(?!(?:The|This|That|It|There|Your|Our|My|You|We|I|He|She|They|Today"
    r"|Here) )[A-Z][\w -]{3,40}? (?:costs|takes|lasts|expires|needs|requires)\b.*",
)
_MEASURE = re.compile(r"\b\d+(?:[.,]\d+)?\b|[$€£]\s?\d|\bnon-?refundable\b", re.IGNORECASE)
_LOOKED_UP = re.compile(
    r"\b(?:faq|polic(?:y|ies)|search\w*|knowledge|guideline|kb|look\w*[ -]?up|article|docs?)\b", re.IGNORECASE
)


def read(session: Session) -> Iterator[Candidate]:
    for sentence in session.said_by_user:
        if not sentence.is_firm:
            continue
        if (moved := _moved(session, sentence)) is not None:
            yield moved
            continue
        if _TRANSIENT.search(sentence.text) or ONE_OFF.search(sentence.text):
            continue
        yield from _self_told(session, sentence)
    if not session.is_coding:
        yield from _switched(session)
        yield from _rules_told(session)


def _self_told(session: Session, sentence: Sentence) -> Iterator[Candidate]:
    text = plain(sentence.text)
    if hit := _LIVES.search(text):
        place = (hit["place"] or hit["es"] or hit["de"] or hit["fr"] or hit["zh"]).rstrip(".")
        yield _fact(sentence, hit, "customer_fact", "city", place, f"The customer lives in {place}.")
    if hit := _WORKS.search(text):
        yield _fact(
            sentence,
            hit,
            "customer_fact",
            "company",
            hit["company"],
            f"The customer works for {hit['company'].rstrip('.')}.",
        )
    if hit := _PLAN.search(text):
        yield _fact(sentence, hit, "account_detail", "plan", hit["plan"], f"The customer is on the {hit['plan']} plan.")
    if hit := _SEATS.search(text):
        yield _fact(
            sentence,
            hit,
            "customer_fact",
            segment(hit["what"]),
            hit["count"],
            f"The customer's company has {hit['count']} {hit['what'].casefold()}.",
        )
    if (hit := _TIER.search(text)) and not session.is_coding:
        tier = hit["tier"].casefold()
        yield _fact(sentence, hit, "account_detail", "membership", tier, f"The customer's membership level is {tier}.")
    if (hit := _OFFICE.search(text)) and not session.is_coding:
        place = hit["place"].rstrip(".")
        yield _fact(sentence, hit, "customer_fact", hit["what"], place, f"The customer's {hit['what']} is in {place}.")
    if (hit := _DEVICE.search(text)) and not session.is_coding:
        yield _fact(
            sentence, hit, "customer_fact", "device", hit["device"], f"The customer uses {hit['device'].rstrip('.')}."
        )
    if hit := _NUMBER.search(text):
        what = hit["what"].casefold()
        yield _fact(
            sentence,
            hit,
            "account_detail",
            f"{what}_number",
            hit["number"],
            f"The customer's {what} number is {hit['number']}.",
        )


def _fact(sentence: Sentence, hit: re.Match[str], kind: str, key: str, value: str, text: str) -> Candidate:
    return Candidate(kind, f"{kind}:{key}", value, text, (_said(sentence, hit),), "customer")


def _said(sentence: Sentence, hit: re.Match[str]) -> Quote:
    """The words that say it, or the sentence where they do not stand letter by letter."""
    return quote(sentence.seen, hit.group(), sentence.start) or sentence.quote()


def _moved(session: Session, sentence: Sentence) -> Candidate | None:
    hit = _MOVED.search(sentence.text)
    if hit is None or re.search(r"\b(?:will|going to|planning|might|next)\b", sentence.text, re.IGNORECASE):
        return None
    said_at = session.moment(sentence.seen)
    place = hit["place"].rstrip(".")
    when = ""
    if re.search(r"\blast week\b", sentence.text, re.IGNORECASE):
        first, last = dates.last_week(said_at)
        when = f" between {first.isoformat()} and {last.isoformat()}"
    came_from = f" from {hit['old']}" if hit["old"] else ""
    text = f"The customer moved{came_from} to {place}{when or f', as said on {said_at.date().isoformat()}'}."
    return (
        Candidate("customer_fact", "customer_fact:city", place, text, (sentence.quote(),), "customer")
        if fits(text)
        else None
    )


def _switched(session: Session) -> Iterator[Candidate]:
    """What a tool's result says was switched, and until when."""
    for step in session.steps:
        seen = step.result or step.call
        if seen.role != "tool":
            continue
        yield from _switched_in(session, seen.ref, seen.text, session.moment(seen))
    for seen in session.seen:
        if seen.kind == "tool_result" and all(step.result is not seen for step in session.steps):
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
        sentence = f"The {subject} is {hit['state'].casefold()} for the customer until {when.day.isoformat()}."
        if faults(sentence):
            continue
        end = hit.start("date") + when.end
        place = Quote(ref, hit.start(), end, text[hit.start() : end])
        value = {"state": hit["state"].casefold(), "until": when.day.isoformat()}
        yield Candidate(
            "customer_fact", f"customer_fact:{topic(what)}", value, sentence, (place,), "customer", expires_at=ends
        )


def _rules_told(session: Session) -> Iterator[Candidate]:
    """A general rule with a number in it, told after looking it up: it holds for every customer."""
    looked_up = [step for step in session.steps if _LOOKED_UP.search(f"{step.call.tool} {step.call.text[:300]}")]
    for said in session.said_by_assistant:
        body = without_openers(said.text)
        source = next((step for step in reversed(looked_up) if step.at < said.at), None)
        if source is None or not said.is_firm or not _GENERAL.match(body) or not _MEASURE.search(body):
            continue
        if re.search(r"\b(?:you|your|yours|i|my|me)\b", body, re.IGNORECASE):
            continue
        text = as_sentence(body, language_of(said.text))
        if not fits(text) or faults(text):
            continue
        backing = source.call.text.strip()[:200]
        quotes = (
            said.quote(),
            Quote(
                source.call.ref,
                source.call.text.index(backing),
                source.call.text.index(backing) + len(backing),
                backing,
            ),
        )
        yield Candidate("environment", f"environment:{topic(body)}", {"rule": text}, text, quotes, "project")
