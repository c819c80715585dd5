"""Plain JSONL: one message a line, `{"role": …, "content": …}`, with whatever else `plain_fields` knows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from memory.importers import plain_fields
from memory.importers.answers import whole_number
from memory.importers.detection import JSONL, why_not
from memory.importers.documents import read_values
from memory.importers.embedded import without_bytes
from memory.importers.identity import digest, plain_id
from memory.importers.message_counts import MessageCounts
from memory.importers.reading import Line, Source, report, report_replaced, sentence_for
from memory.importers.said_once import Sending, content_of
from memory.importers.shapes import ROLES, read_message, unwrapped
from memory.importers.times import zone_named
from memory.importers.turns import Turns
from memory.transcript import Incoming, IncomingSession, ReadResult

FORMAT = JSONL


def read(source: Source) -> ReadResult:
    """Everything one file holds, as observations by session. Never raises on content."""
    try:
        return _Reader(source).read()
    except OSError as error:
        return ReadResult(source.label, FORMAT, error=sentence_for(source, error))


@dataclass(slots=True)
class _Talk:
    session: IncomingSession
    turns: Turns = field(default_factory=Turns)
    sending: Sending = field(default_factory=Sending)
    given: set[str] = field(default_factory=set)
    is_named: bool = False


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.result = ReadResult(source.label, FORMAT)
        self.counts = MessageCounts()
        self.talks: dict[str, _Talk] = {}
        self.current = ""
        self.replaced = 0

    def read(self) -> ReadResult:
        for line in read_values(self.source):
            values = line.value if isinstance(line.value, list) else [line.value]
            for value in values:
                self._take(replace(line, value=value))
            self.replaced += line.replaced
        result = self.result
        report_replaced(result, self.replaced)
        result.raw = self.counts.result()
        result.bad = result.raw["bad_json_lines"] + result.raw["non_object_lines"]
        if not result.raw["records"]:
            result.error = why_not(self.source)
        result.sessions = [self._closed(talk) for talk in self.talks.values() if talk.session.observations]
        return result

    def _take(self, line: Line) -> None:
        self.source.spend()
        if line.problem or not isinstance(line.value, dict):
            self.counts.add("bad_json_lines" if line.problem else "non_object_lines")
            code = "bad_line" if line.problem else "not_an_object"
            report(self.result, line.number, line.problem or "is no JSON object", code)
            return
        plain = unwrapped(line.value)
        self.counts.message(plain_fields.message_of(line.value))
        talk = self._talk_of(plain)
        drafts, reason = self._drafts(talk, line.value)
        if reason == "no_role" or reason.startswith("unknown_role"):
            report(self.result, line.number, "has no role that is known", "unknown_role")
        new = [one for one in self._stamped(talk, plain, drafts) if one.id not in talk.given]
        talk.given.update(one.id or "" for one in new)
        if new:
            self.result.mapped += 1
            new[0] = replace(new[0], payload=without_bytes(line.value))
            talk.session.observations += new
        else:
            self.result.skipped["repeated_line" if drafts else reason] += 1

    def _drafts(self, talk: _Talk, line: dict[str, Any]) -> tuple[list[Incoming], str]:
        plain, at = unwrapped(line), plain_fields.time_of(unwrapped(line))
        kind = plain_fields.kind_of(plain)
        message = plain_fields.message_of(line)
        role = ROLES.get(str(message.get("role", "")), "")
        if kind and role:
            text = plain_fields.text_of(plain)
            found = Incoming(kind, role, text if isinstance(text, str) else "", occurred_at=at)
            drafts, reason = ([found] if found.text.strip() or kind == "tool_result" else []), "empty_text"
        else:
            drafts, reason = talk.turns.drafts(read_message(message), at)
        return [_with_fields(one, plain) for one in drafts], reason

    def _stamped(self, talk: _Talk, line: dict[str, Any], drafts: list[Incoming]) -> list[Incoming]:
        if not (given := plain_fields.id_of(line)):
            return talk.sending.named(drafts, timed=True)
        names = (digest("\x1f".join((given, str(place), content_of(one)))) for place, one in enumerate(drafts))
        return [replace(one, id=f"id-{name[:24]}") for one, name in zip(drafts, names, strict=True)]

    def _talk_of(self, line: dict[str, Any]) -> _Talk:
        # A line without an id belongs to the session before it.
        self.current = plain_fields.session_of(line) or self.current
        if self.current not in self.talks:
            self.talks[self.current] = _Talk(IncomingSession(self.current, FORMAT), is_named=bool(self.current))
        talk = self.talks[self.current]
        cwd = line.get("cwd")
        if isinstance(cwd, str) and cwd.strip() and not talk.session.cwd:
            talk.session.cwd = talk.turns.root = cwd
        talk.session.timezone = zone_named(line.get("timezone")) or talk.session.timezone
        return talk

    @staticmethod
    def _closed(talk: _Talk) -> IncomingSession:
        if not talk.is_named:
            talk.session.external_id = f"talk-{_name(talk.session.observations)}"
        return talk.session


def _with_fields(one: Incoming, line: dict[str, Any]) -> Incoming:
    """What a line may say of a call or an answer beside its text."""
    code, listed = whole_number(line.get("exit_code")), line.get("paths")
    paths = tuple(path for path in listed if isinstance(path, str)) if isinstance(listed, list) else ()
    has_code = one.kind in ("tool_result", "error") and code is not None
    return replace(
        one,
        tool=one.tool or plain_fields.tool_of(line),
        call_id=one.call_id or plain_id(line.get("call_id") or line.get("tool_call_id")),
        exit_code=code if has_code else one.exit_code,
        is_error=one.is_error or line.get("is_error") is True,
        paths=one.paths or paths,
        sidechain=one.sidechain or line.get("sidechain") is True,
    )


def _name(observations: list[Incoming]) -> str:
    """Stays the same while the file grows: the first line where it has a time, else all up to the first answer."""
    found: list[str] = []
    for one in observations:
        found.append(json.dumps([content_of(one), one.occurred_at.isoformat() if one.occurred_at else ""]))
        if one.occurred_at is not None or one.role == "assistant":
            break
    return digest("".join(found))[:24]
