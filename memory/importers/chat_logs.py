"""Logs of a model's API: requests with their answers, either alone, or bare lists of messages (OpenAI, Anthropic).

Every request repeats the talk so far. Only what is new becomes observations: `said_once` gives the ids, and
`docs/importers.md` says which requests are one talk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from memory.importers.detection import why_not
from memory.importers.documents import read_values
from memory.importers.embedded import without_bytes
from memory.importers.exchanges import Exchange, exchanges_of
from memory.importers.identity import digest
from memory.importers.message_counts import MessageCounts
from memory.importers.reading import Line, Source, report, report_replaced, sentence_for
from memory.importers.said_once import Sending, content_of
from memory.importers.shapes import is_message, read_message
from memory.importers.turns import Turns
from memory.transcript import Incoming, IncomingSession, ReadResult

# A text this long is no greeting: two talks do not share it by chance.
_TELLING_CHARACTERS = 40
# Talks that run at once in one log; further back nobody looks for the one a request goes on with.
_RECENT = 50


def read(source: Source, file_format: str) -> ReadResult:
    """Everything one log holds, as observations by talk. Never raises on content."""
    try:
        return _Reader(source, file_format).read()
    except OSError as error:
        return ReadResult(source.label, file_format, error=sentence_for(source, error))


@dataclass(slots=True)
class _State:
    """Where the reading of one history stands: the calls that wait, and what was said how often."""

    turns: Turns = field(default_factory=Turns)
    sending: Sending = field(default_factory=Sending)

    def copy(self) -> _State:
        return _State(self.turns.copy(), self.sending.copy())


@dataclass(slots=True)
class _Talk:
    session: IncomingSession
    given: set[str] = field(default_factory=set)
    # The history as it was last sent, the state behind it, and the one behind its answer.
    sent: list[Any] = field(default_factory=list)
    state: _State = field(default_factory=_State)
    latest: _State = field(default_factory=_State)
    # What was asked last and what was answered, where that tells this talk from others.
    last_words: frozenset[str] = frozenset()
    opening: tuple[str, ...] = ()
    is_answered: bool = False
    answer_ids: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, source: Source, file_format: str) -> None:
        self.source = source
        self.result = ReadResult(source.label, file_format)
        self.counts = MessageCounts()
        self.talks: dict[str, _Talk] = {}
        self.loose: list[Any] = []
        self.place = 0
        self.replaced = 0

    def read(self) -> ReadResult:
        for line in read_values(self.source):
            self._take(line)
        self._take_loose()
        result = self.result
        report_replaced(result, self.replaced)
        result.raw = self.counts.result()
        result.bad = result.raw["bad_json_lines"] + result.raw["non_object_lines"]
        if not result.raw["records"]:
            result.error = why_not(self.source)
        result.sessions = [talk.session for talk in self.talks.values() if talk.session.observations]
        return result

    def _take(self, line: Line) -> None:
        self.source.spend()
        self.replaced += line.replaced
        if line.problem:
            self.counts.add("bad_json_lines")
            report(self.result, line.number, line.problem, "bad_line")
        elif is_message(line.value) and isinstance(line.value, dict):
            # A message a line: they are one talk, as long as nothing else comes between.
            self.loose.append(line.value)
        elif not isinstance(line.value, dict | list):
            self.counts.add("non_object_lines")
            report(self.result, line.number, "is no JSON object", "not_an_object")
        else:
            self._take_loose()
            for exchange in exchanges_of(line.value):
                self._exchange(exchange)

    def _take_loose(self) -> None:
        if self.loose:
            loose, self.loose = self.loose, []
            for exchange in exchanges_of(loose):
                self._exchange(exchange)

    def _exchange(self, exchange: Exchange) -> None:
        self.counts.add("exchanges")
        if exchange.is_streamed:
            self.counts.add("streamed")
        if not exchange.sent and not exchange.answered:
            self.counts.add("records")
            self.place += 1
            self.result.skipped["error_answer" if exchange.failed else "no_messages"] += 1
            return
        talk, known = self._talk_of(exchange)
        if exchange.follows:
            state = talk.latest
        else:
            # What was sent before, word for word, has been read: only what comes behind it is looked at.
            state = talk.state.copy() if known else _State()
        for value in exchange.sent[:known]:
            self.counts.message(value)
            self.result.skipped["resent"] += 1
        self.place += known
        asked = self._messages(talk, state, exchange, exchange.sent[known:])
        talk.sent, talk.state = ([], _State()) if exchange.follows else (exchange.sent, state.copy())
        talk.latest = state
        answer = self._messages(talk, state, exchange, exchange.answered)
        if answer:
            question = [one for one in asked if one.kind in ("message", "tool_result")][-1:]
            talk.last_words = frozenset(map(content_of, question + answer)) if _is_telling(answer) else frozenset()
        talk.answer_ids.add(exchange.answer_id)
        talk.session.usage.update(exchange.usage)
        if exchange.failed:
            self.counts.add("error_answers")

    def _messages(self, talk: _Talk, state: _State, exchange: Exchange, values: list[Any]) -> list[Incoming]:
        """What these messages become; each is a record of its own."""
        found: list[Incoming] = []
        for value in values:
            self.source.spend()
            self.place += 1
            if not isinstance(value, dict | list) or not value:
                self.counts.add("non_object_lines")
                report(self.result, self.place, "is no JSON object", "not_an_object", "Message")
                continue
            self.counts.message(value)
            drafts, reason = state.turns.drafts(read_message(value), exchange.at)
            if reason == "no_role" or reason.startswith("unknown_role"):
                report(self.result, self.place, "has no role that is known", "unknown_role", "Message")
            new = [one for one in state.sending.named(drafts) if one.id not in talk.given]
            talk.given.update(one.id or "" for one in new)
            if new:
                self.result.mapped += 1
                new[0] = replace(new[0], payload=without_bytes(value))
                talk.session.observations += new
            else:
                self.result.skipped["resent" if drafts else reason] += 1
            found += drafts
        return found

    def _talk_of(self, exchange: Exchange) -> tuple[_Talk, int]:
        """The talk of this exchange, and how many of its messages were sent before exactly so."""
        talk = self._named(exchange) if exchange.session else self._followed(exchange) or self._opened(exchange)
        is_again = bool(talk.sent) and not exchange.follows and _begins_with(exchange.sent, talk.sent)
        return talk, len(talk.sent) if is_again else 0

    def _named(self, exchange: Exchange) -> _Talk:
        if exchange.session not in self.talks:
            self.talks[exchange.session] = _Talk(IncomingSession(exchange.session, self.result.format))
        return self.talks[exchange.session]

    def _recent(self) -> Iterator[_Talk]:
        return islice(reversed(self.talks.values()), _RECENT)

    def _followed(self, exchange: Exchange) -> _Talk | None:
        if not exchange.follows:
            return None
        return next((talk for talk in self._recent() if exchange.follows in talk.answer_ids), None)

    def _opened(self, exchange: Exchange) -> _Talk:
        """A talk without an id is known by its opening, its first answer included; or, where the log sends only the
        end of a long history, by its last question and answer."""
        opening, is_answered = _opening(exchange)
        name = f"chat-{digest(chr(31).join(opening))[:24]}"
        if name in self.talks:
            return self.talks[name]
        for talk in self._recent():
            if talk.opening and not (talk.is_answered and is_answered):
                shorter = min(len(talk.opening), len(opening))
                if shorter and talk.opening[:shorter] == opening[:shorter]:
                    # One of the two is that question without its answer: a call that failed, or was not logged whole.
                    talk.opening, talk.is_answered = max(talk.opening, opening, key=len), True
                    return talk
        said = {content_of(one) for one in _drafts(exchange.sent)}
        for talk in self._recent():
            if talk.last_words and talk.last_words <= said:
                return talk
        session = IncomingSession(name, self.result.format)
        self.talks[name] = _Talk(session, opening=opening, is_answered=is_answered)
        return self.talks[name]


def _opening(exchange: Exchange) -> tuple[tuple[str, ...], bool]:
    """What a talk begins with: everything up to its first answer, without instructions; and whether it was answered."""
    found: list[str] = []
    for one in _drafts([*exchange.sent, *exchange.answered]):
        if one.role == "assistant":
            found.append(content_of(one))
            return tuple(found), True
        if one.kind == "message":
            found.append(content_of(one))
    return tuple(found), False


def _drafts(values: list[Any]) -> Iterator[Incoming]:
    turns = Turns()
    for value in values:
        yield from turns.drafts(read_message(value))[0]


def _is_telling(answer: list[Incoming]) -> bool:
    return any(one.call_id or len(one.text) >= _TELLING_CHARACTERS for one in answer)


def _begins_with(sent: list[Any], earlier: list[Any]) -> bool:
    try:
        return sent[: len(earlier)] == earlier
    except RecursionError:
        return False
