"""What was said, cut into sentences whose place in the observation is kept, and what kind of saying it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.transcript import Quote, Seen

# Longer than this a user "message" is a pasted document: its lines are not the user's own wishes.
PASTED_CHARS = 3_000

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nr|dr|mr|mrs|ms|st|z\.B|bzw|p\.ej)|\.\.)$", re.IGNORECASE
)
_STOP = re.compile(r"[.!?]+(?=[\"”')\]*]*(?:\s|$))|[。！？]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_BULLET = re.compile(r"^(?:\s*(?:[-*•+]|\d{1,2}[.)])\s+|\s+)")

# Guards: a sentence of one of these kinds is never a lasting claim.
HEDGED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|might|may be|could (?:be|also|have)|i (?:think"
    r"|guess|suspect|assume|believe|wonder)"
    r"|seems?(?: to)?|appears? to|likely|not sure|unsure|i'd bet|my guess|apparently|supposedly|allegedly"
    r"|quizás?|tal vez|creo que|vielleicht|vermutlich|wahrscheinlich|ich glaube|peut-être|je crois"
    r"|je pense)\b|也许|可能|大概|たぶん|かもしれ|と思い",
    re.IGNORECASE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:if (?:i|we|you|they|he|she|it|the|a|an|this|that|someone|anyone)\b.*\b(?:would|could|might"
    r"|were|had)|what if|suppose|imagine|let's say|say we|hypothetically"
    r"|for example|e\.g\.|as an example|would (?:you|it|we|they)|should (?:we|i|it)|could (?:we|you)"
    r"|wish|pretend|in theory|thinking (?:of|about)|considering"
    r"|supongamos|imagina|angenommen|wenn .* würde|supposons|imaginons|un jour)\b|假如|如果|もし",
    re.IGNORECASE,
)
ONE_OFF = re.compile(
    r"\b(?:just (?:this )?once|this once|one[- ]time|this (?:one )?time|for now|for the moment"
    r"|right now|at the moment|today|tonight|this (?:morning|afternoon|evening|week|month|time|pr"
    r"|commit|branch|session|task|run)"
    r"|in this (?:pr|commit|branch|session|task|case|file|function|test)|for this (?:one|pr|commit"
    r"|task|session|call|order|ticket|time|file)|temporar\w+|until (?:i|we|you|then|the|to|next)"
    r"|only (?:today|now|this)|yet|meanwhile|in a hurry|exceptionally|an exception"
    r"|por (?:ahora|esta vez|hoy)|solo (?:hoy|esta vez)|hoy|ausnahmsweise|diesmal|nur heute|heute"
    r"|vorerst|pour l'instant|cette fois|aujourd'hui)\b|这次|今天|暂时|今回|今日だけ",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:(?:he|she|they|someone|somebody|people|everyone|everybody|my (?:boss|colleague|wife|husband"
    r"|friend|manager|partner|mother|father|sister|brother|neighbou?r|teammate|co-?worker|client|son"
    r"|daughter)"
    r"|(?:the|our|your|their) (?:docs?|documentation|readme|article|blog|guide|manual|style ?guide"
    r"|book|vendor|boss|manager|old team|other team|ticket|website|page|faq|customer|client|user"
    r"|colleague)s?)"
    r" (?:\w+ )?(?:say|says|said|told|tells|wrote|writes|claims?|claimed|prefers?|preferred|wants?"
    r"|wanted|likes?|liked|thinks?|thought|suggests?|suggested|recommends?|recommended|keeps? saying"
    r"|insists?|lives?|hates?|uses?|used)"
    r"|according to|i (?:read|heard)|dice que|dijo que|sagt(?:e)?,? dass|er sagt|sie sagt|dit que"
    r"|il dit|elle dit)\b|他说|她说|と言って",
    re.IGNORECASE,
)
RETRACTED = re.compile(
    r"\b(?:no wait|wait,? no|scratch that|just kidding|never ?mind|i mean|i take (?:it|that) back"
    r"|forget (?:it|that|what)|kidding|sarcasm)\b",
    re.IGNORECASE,
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
    if sum(letter.isalnum() for letter in text) < 2:
        return None
    start = offset + begin + (len(raw) - len(raw.lstrip()))
    return Sentence(seen, at, start, start + len(text), text, text.rstrip('"”)').endswith(("?", "？")))
