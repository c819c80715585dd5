"""A provider's model as a distiller: asks it piece by piece, reads what it replies, builds candidates.

What a reading did is noted as it goes (`Notes`), so that a worker that dies has paid for nothing twice. No ORM here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory import privacy, tokens
from memory.distillers.hosted import candidates, pieces, prompt
from memory.distillers.hosted.calls import Ask, Model, Reply, Trouble
from memory.distillers.hosted.pieces import Piece
from memory.distillers.hosted.replies import Parsed, Said, parse
from memory.transcript import Candidate, Seen
from memory.types import TYPES, FactType

MOST_OUTPUT = 8_000  # tokens of a reply, the model's thoughts included


class UnusableReply(Exception):
    """A model that gave nothing to read, twice where that was allowed. `outcome`: unusable, wrong_types, truncated,
    refused."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Notes(Protocol):
    """Where a reading notes what it does. Each call may raise what ends the reading (a cap, its time, a successor)."""

    def may_call(self, tokens: int) -> None: ...

    def called(self, outcome: str, reply: Reply | None, milliseconds: int) -> None: ...

    def part(self, key: str) -> list[dict[str, Any]] | None: ...

    def keep(self, key: str, facts: list[dict[str, Any]]) -> None: ...

    def unusable(self, reply: str) -> None: ...

    def may_show_again(self) -> bool: ...


class ForgetfulNotes:
    """Notes of a reading that nobody pays for: a trial."""

    def may_call(self, tokens: int) -> None:
        return

    def called(self, outcome: str, reply: Reply | None, milliseconds: int) -> None:
        return

    def part(self, key: str) -> list[dict[str, Any]] | None:
        return None

    def keep(self, key: str, facts: list[dict[str, Any]]) -> None:
        return

    def unusable(self, reply: str) -> None:
        return

    def may_show_again(self) -> bool:
        return True


class HostedDistiller:
    """Reads a session with a model. One reading each: `gaps` and `dropped` tell of the last one.

    `gaps` are the faults of pieces that could not be read while others could; `dropped` counts what was left out here.
    """

    def __init__(
        self,
        model: Model,
        *,
        notes: Notes | None = None,
        examples: Sequence[prompt.Example] = (),
        types: Mapping[str, FactType] = TYPES,
        piece_tokens: int = pieces.PIECE_TOKENS,
    ) -> None:
        self.NAME = f"{model.provider}:{model.model}"[:40]
        self.VERSION = prompt.version(examples)
        self.gaps: list[str] = []
        self.dropped: Counter[str] = Counter()
        self.pieces = 0
        self._model = model
        self._notes: Notes = notes or ForgetfulNotes()
        self._types = types
        self._system = prompt.system(types, examples)
        self._schema = prompt.schema(types)
        self._piece_tokens = piece_tokens

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]:
        """What the session taught. Raises Trouble, UnusableReply (when no piece at all could be read), and what the
        notes raise."""
        zone = _zone(timezone)
        turns = pieces.turns_of(observations, zone)
        numbered = {turn.number: turn.seen for turn in turns}
        self.gaps, self.dropped, self.pieces = [], Counter(), 0
        found: list[list[Candidate]] = []
        for piece in pieces.cut(turns, self._piece_tokens):
            for said, part in self._read(piece):
                # The person's own words before what machines printed, where the model named no observation.
                order = sorted((turn.number for turn in part.turns), key=lambda one: numbered[one].role != "user")
                found.append(candidates.build(said, numbered, order, zone, self.dropped))
        if self.gaps and len(self.gaps) == self.pieces and not any(found):
            raise UnusableReply(self.gaps[0])
        return candidates.merge(found, self._types)

    def _read(self, piece: Piece) -> list[tuple[tuple[Said, ...], Piece]]:
        """What the model said of a piece; where it is too long for the model, of its halves."""
        if piece.tokens > self._piece_tokens and len(piece.turns) > 1:
            return self._split(piece)
        try:
            return [(self._said(piece), piece)]
        except Trouble as trouble:
            if trouble.outcome != "too_long" or piece.tokens < pieces.SMALLEST_PIECE:
                raise
        if len(piece.turns) == 1:
            self.pieces += 1
            self.gaps.append("too_long")
            return []
        # Learned once: what is too long for this model is cut before it is sent from now on.
        self._piece_tokens = piece.tokens // 2
        return self._split(piece)

    def _split(self, piece: Piece) -> list[tuple[tuple[Said, ...], Piece]]:
        parts = pieces.cut(piece.turns, self._piece_tokens, overlap=self._piece_tokens // 8)
        return [one for part in parts for one in self._read(part)]

    def _said(self, piece: Piece) -> tuple[Said, ...]:
        key = prompt.part_key(self.VERSION, self.NAME, piece)
        kept = self._notes.part(key)
        if kept is not None:
            self.pieces += 1
            return tuple(Said.from_json(one) for one in kept)
        parsed = self._asked((("user", prompt.question(piece)),))
        self.pieces += 1
        if parsed.malformed and parsed.facts:
            self.dropped["malformed"] += parsed.malformed
        # Cleaned like everything from outside: no half characters, no secrets.
        facts = [privacy.clean_json(one.as_json()).value for one in parsed.facts]
        if parsed.fault:
            self.gaps.append(parsed.fault)
        else:
            self._notes.keep(key, facts)
        return tuple(Said.from_json(one) for one in facts)

    def _asked(self, turns: tuple[tuple[str, str], ...]) -> Parsed:
        """The model's answer; one that cannot be used is shown to it once, and the better of the two counts."""
        reply, parsed = self._call(turns)
        if not parsed.fault:
            return parsed
        self._notes.unusable(reply.text)
        if not self._notes.may_show_again():
            return parsed
        again, second = self._call(turns + prompt.shown_again(reply.text, parsed.fault))
        if second.fault:
            self._notes.unusable(again.text)
        return second if not second.fault or len(second.facts) > len(parsed.facts) else parsed

    def _call(self, turns: tuple[tuple[str, str], ...]) -> tuple[Reply, Parsed]:
        self._notes.may_call(tokens.count(self._system) + sum(tokens.count(text) for _, text in turns))
        try:
            reply = self._model.ask(
                Ask(self._system, turns, MOST_OUTPUT, schema=self._schema, schema_name="record_facts")
            )
        except Trouble as trouble:
            self._notes.called(trouble.outcome, None, trouble.milliseconds)
            raise
        parsed = parse(reply.text, reply.stop)
        self._notes.called(parsed.fault or "ok", reply, reply.milliseconds)
        return reply, parsed


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
