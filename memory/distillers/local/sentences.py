"""What was said, cut into sentences whose place in the observation is kept, and what kind of saying it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local.words import any_of
from memory.transcript import Quote, Seen

# Longer than this a user "message" is a pasted document: its lines are not the user's own wishes.
PASTED_CHARS = 3_000
# Longer than this no sentence is a claim that fits into one memory; and long lines make expressions slow.
MAX_SENTENCE_CHARS = 600

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nr|dr|mr|mrs|ms|st|z\.B|bzw|p\.ej)|\.\.)$", re.IGNORECASE
)
_STOP = re.compile(r"[.!?]+(?=[\"”')\]*]*(?:\s|$))|[。！？]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_BULLET = re.compile(r"^(?:\s*(?:[-*•+]|\d{1,2}[.)])\s+|\s+)")

# Guards: a sentence of one of these kinds is never a lasting claim.
HEDGED = any_of(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|might|may be|could (?:be|also|have)"
    r"|seems?(?: to)?|appears? to)\b",
    r"\b(?:likely|not sure|unsure|i'd bet|my guess|apparently|supposedly|allegedly)\b",
    r"\bi (?:think|guess|suspect|assume|believe|wonder)\b",
    r"\b(?:quizás?|tal vez|creo que|vielleicht|vermutlich|wahrscheinlich|ich glaube|peut-être|je crois|je pense)\b",
    r"也许|可能|大概|たぶん|かもしれ|と思い",
)
HYPOTHETICAL = any_of(
    r"\bif (?:i|we|you|they|he|she|it|the|a|an|this|that|someone|anyone)\b.*\b(?:would|could|might|were|had)\b",
    r"\b(?:what if|suppose|imagine|let's say|say we|hypothetically|for example|e\.g\.|as an example|wish|pretend)\b",
    r"\b(?:would (?:you|it|we|they)|should (?:we|i|it)|could (?:we|you)|in theory|thinking (?:of"
    r"|about)|considering)\b",
    r"\b(?:supongamos|imagina|angenommen|wenn .* würde|supposons|imaginons)\b",
    r"假如|如果|もし",
)
ONE_OFF = any_of(
    r"\b(?:just (?:this )?once|this once|one[- ]time|this (?:one )?time|for now|for the moment"
    r"|right now|at the moment)\b",
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|month|time|pr|commit|branch|session|task|run))\b",
    r"\bin this (?:pr|commit|branch|session|task|case|file|function|test|class|module|component)\b",
    r"\bfor this (?:one|pr|commit|task|session|call|order|ticket|time|file|function|method|class"
    r"|component|page|change"
    r"|step|script|feature|fix|request|e-?mail|reply|question|test|run|release)\b",
    r"\b(?:temporar\w+|until (?:i|we|you|then|the|to|next)|only (?:today|now|this)|yet|meanwhile|in a hurry)\b",
    r"\b(?:exceptionally|an exception)\b",
    r"\b(?:por (?:ahora|esta vez|hoy)|solo (?:hoy|esta vez)|hoy|ausnahmsweise|diesmal|nur heute|heute|vorerst)\b",
    r"\b(?:pour l'instant|cette fois|aujourd'hui)\b",
    r"这次|今天|暂时|今回|今日だけ",
)
_OTHERS = (
    r"(?:(?<!-)he|she|they|someone|somebody|people|everyone|everybody"
    r"|my (?:boss|colleague|wife|husband|friend|manager|partner|mother|father|sister|brother|neighbou?r|teammate"
    r"|co-?worker|client|son|daughter)"
    r"|(?:the|our|your|their) (?:docs?|documentation|readme|article|blog|guide|manual|style ?guide"
    r"|book|vendor|boss|manager"
    r"|old team|other team|ticket|website|page|faq|customer|client|user|colleague)s?)"
)
_SAY = (
    r"(?:say|says|said|told|tells|wrote|writes|claims?|claimed|prefers?|preferred|wants?|wanted|likes?|liked|thinks?"
    r"|thought|suggests?|suggested|recommends?|recommended|keeps? saying|insists?|lives?|hates?|uses?|used)"
)
REPORTED = any_of(
    rf"\b{_OTHERS} (?:\w+ )?{_SAY}\b",
    r"\b(?:that|which|it) (?:says?|reads?|states?)\b|^translate\b",
    r"^(?:write|add|put|insert) (?:a|an|the|this|another)?\s*(?:line|sentence|note|comment|readme|text"
    r"|section|letter)\b",
    r"\b(?:according to|i (?:read|heard)|dice que|dijo que|sagt(?:e)?,? dass|er sagt|sie sagt|dit que"
    r"|il dit|elle dit)\b",
    r"他说|她说|と言って",
)
RETRACTED = any_of(
    r"\b(?:no wait|wait,? no|scratch that|just kidding|never ?mind|i mean|i take (?:it|that) back)\b",
    r"\b(?:forget (?:it|that|what)|kidding|sarcasm)\b",
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one message: `seen.text[start:end]`, with its place in the session."""

    seen: Seen
    at: int
    start: int
    end: int
    text: str
    is_question: bool = False

    def quote(self) -> Quote:
        return Quote(self.seen.ref, self.start, self.end, self.text)

    @property
    def is_firm(self) -> bool:
        """Neither asked, guessed, imagined, taken back nor somebody else's words."""
        return not (
            self.is_question
            or HEDGED.search(self.text)
            or HYPOTHETICAL.search(self.text)
            or REPORTED.search(self.text)
            or RETRACTED.search(self.text)
        )


def sentences(seen: Seen, at: int) -> Iterator[Sentence]:
    """The sentences of a message outside code blocks and quoted lines."""
    fenced = False
    offset = 0
    for line in seen.text.split("\n"):
        start, offset = offset, offset + len(line) + 1
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.lstrip().startswith((">", "|", "#", "<")):
            continue
        yield from _of_line(seen, at, start, line)


def _of_line(seen: Seen, at: int, offset: int, line: str) -> Iterator[Sentence]:
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet else 0
    for stop in _STOP.finditer(line, begin):
        if line[stop.start() : stop.end()] == "." and _ABBREVIATION.search(line[begin : stop.start()]):
            continue
        if stop.group().startswith("..") or line[begin : stop.start()].count("`") % 2:
            continue
        if (sentence := _cut(seen, at, offset, line, begin, stop.end())) is not None:
            yield sentence
        begin = stop.end()
    if (sentence := _cut(seen, at, offset, line, begin, len(line))) is not None:
        yield sentence


def _cut(seen: Seen, at: int, offset: int, line: str, begin: int, end: int) -> Sentence | None:
    raw = line[begin:end]
    text = raw.strip()
    if len(text) > MAX_SENTENCE_CHARS or sum(letter.isalnum() for letter in text) < 2:
        return None
    start = offset + begin + (len(raw) - len(raw.lstrip()))
    return Sentence(seen, at, start, start + len(text), text, text.rstrip('"”)').endswith(("?", "？")))
