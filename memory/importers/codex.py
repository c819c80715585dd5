"""Codex rollouts: JSONL, `{timestamp, type, payload}` a line, one session a file.

Which line becomes what, and every reason for leaving one out, stands in `docs/importers.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.importers.answers import exit_code_in
from memory.importers.codex_lines import Lines
from memory.importers.counts import scalar
from memory.importers.detection import CODEX, why_not
from memory.importers.identity import Ids, digest, session_id
from memory.importers.reading import Line, Source, read_lines, report, report_replaced, sentence_for
from memory.importers.times import parse_time, seconds_between, zone_named
from memory.transcript import Incoming, IncomingSession, ReadResult

FORMAT = CODEX

_TYPE_CHARACTERS = 80
# rollout-2026-11-04T09-00-00-<id>.jsonl
_ID_IN_NAME = re.compile(r"rollout-[\dT:-]{10,25}-([0-9a-fA-F-]{36})\.jsonl\Z")
_REMOTE = re.compile(r"(?:[a-z+]+://(?:[^/@]*@)?[^/]+/|[^/@:]+@[^/:]+:)(.+)", re.IGNORECASE)
# A fork writes its parent's history in one go; nobody types the first word of a fork within that moment.
_COPYING_SECONDS = 1.0


def read(source: Source) -> ReadResult:
    """Everything one rollout holds, as the observations of its session. Never raises on content."""
    try:
        return _Reader(source).read()
    except OSError as error:
        return ReadResult(source.label, FORMAT, error=sentence_for(source, error))


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first `session_meta` says of the file: whose it is, and which lines are a copy of its parent's."""

    session: str = ""
    is_subagent: bool = False
    is_fork: bool = False
    born: datetime | None = None
    own_from: int = 0

    @classmethod
    def of(cls, payload: dict[str, Any]) -> _Head:
        source, base = payload.get("source"), payload.get("history_base")
        ends = base.get("end_ordinal_exclusive") if isinstance(base, dict) else None
        starts = payload.get("subagent_history_start_ordinal")
        return cls(
            session=session_id(payload.get("id") or payload.get("session_id")),
            is_subagent=(isinstance(source, dict) and "subagent" in source)
            or "subagent" in (source, payload.get("thread_source")),
            is_fork=bool(payload.get("forked_from_id")),
            born=parse_time(payload.get("timestamp")),
            own_from=max(_number(starts), _number(ends)),
        )


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.result = ReadResult(source.label, FORMAT)
        self.raw: Counter[str] = Counter(records=0, bad_json_lines=0)
        self.session = IncomingSession("", FORMAT)
        self.head: _Head | None = None
        self.copied_at: datetime | None = None
        self.lines = Lines()
        self.ids = Ids()
        # What each line became, and which of them begin a turn: a turn may be withdrawn later.
        self.kept: list[list[Incoming]] = []
        self.turns: list[int] = []
        self.first = ""
        self.replaced = 0

    def read(self) -> ReadResult:
        with self.source.open() as handle:
            for line in read_lines(handle):
                self._take(line)
        result = self.result
        report_replaced(result, self.replaced)
        result.raw = self.raw
        result.bad = self.raw["bad_json_lines"] + self.raw["non_object_lines"]
        if not self.raw["records"]:
            result.error = why_not(self.source)
        self.session.external_id = self._name()
        self.session.observations = [one for line in self.kept for one in line]
        result.sessions = [self.session] if self.session.observations else []
        return result

    def _name(self) -> str:
        if self.head and self.head.session:
            return self.head.session
        in_name = _ID_IN_NAME.search(self.source.name)
        return in_name.group(1) if in_name else f"file-{digest(self.first)}"

    def _take(self, line: Line) -> None:
        self.source.spend()
        self.replaced += line.replaced
        record = line.value
        if line.problem or not isinstance(record, dict):
            self.raw["bad_json_lines" if line.problem else "non_object_lines"] += 1
            code = "bad_line" if line.problem else "not_an_object"
            report(self.result, line.number, line.problem or "is no JSON object", code)
            return
        self._count(record)
        self.first = self.first or f"{record.get('timestamp')} {scalar(record.get('type'))}"
        if self._is_copied(record):
            self.result.skipped["copied_history"] += 1
            return
        self._note(record)
        read = self.lines.read(record)
        if read.withdraws:
            self._withdraw(read.withdraws)
        stamped = self.ids.stamp(record, read.drafts, read.base) if read.drafts else []
        if not stamped:
            self.result.skipped["repeated_line" if read.drafts else read.reason] += 1
            return
        self.result.mapped += 1
        if read.starts_turn:
            self.turns.append(len(self.kept))
        self.kept.append(stamped)

    def _count(self, record: dict[str, Any]) -> None:
        self.raw["records"] += 1
        payload = record.get("payload")
        inner = payload.get("type") if isinstance(payload, dict) else None
        name = f"{scalar(record.get('type'))}/{scalar(inner)}" if inner else scalar(record.get("type"))
        self.raw[name[:_TYPE_CHARACTERS]] += 1
        if name == "response_item/function_call_output" and isinstance(payload, dict):
            code = exit_code_in(payload.get("output"))
            self.raw[f"exit:{'none' if code is None else code}"] += 1

    def _is_copied(self, record: dict[str, Any]) -> bool:
        """Whether this line is the parent's: the head of a sub-agent or fork repeats what was said before it began."""
        payload = record.get("payload")
        is_meta = record.get("type") == "session_meta" and isinstance(payload, dict)
        at = parse_time(record.get("timestamp"))
        if self.head is None:
            if is_meta and isinstance(payload, dict):
                self._open(payload)
            return False
        if is_meta and isinstance(payload, dict):
            if session_id(payload.get("id")) not in ("", self.head.session):
                self.copied_at = at
                return True
            return False
        ordinal = record.get("ordinal")
        if self.head.own_from and ordinal is not None:
            return _number(ordinal) < self.head.own_from
        if at is None or not (self.head.is_fork or self.copied_at):
            return False
        if self.head.born and at < self.head.born:
            return True
        return self.copied_at is not None and seconds_between(self.copied_at, at) < _COPYING_SECONDS

    def _open(self, payload: dict[str, Any]) -> None:
        self.head = _Head.of(payload)
        if isinstance(payload.get("cwd"), str):
            self.session.cwd = payload["cwd"]
        git = payload.get("git")
        if isinstance(git, dict):
            branch = git.get("branch")
            self.session.branch = branch if isinstance(branch, str) else ""
            self.session.git_remote = _remote(git.get("repository_url"), self.session.cwd)
        self.lines = Lines(self.session.cwd, sidechain=self.head.is_subagent)

    def _note(self, record: dict[str, Any]) -> None:
        """The session's zone, folder and tokens, from the lines that carry them."""
        payload = record.get("payload")
        if not isinstance(payload, dict):
            return
        if record.get("type") == "turn_context":
            self.session.timezone = zone_named(payload.get("timezone")) or self.session.timezone
            if not self.session.cwd and isinstance(payload.get("cwd"), str):
                self.session.cwd = self.lines.turns.root = payload["cwd"]
        elif payload.get("type") == "token_count":
            info = payload.get("info")
            total = info.get("total_token_usage") if isinstance(info, dict) else None
            if isinstance(total, dict):
                self._usage(total)

    def _usage(self, total: dict[str, Any]) -> None:
        """Codex counts up: the last total is the session's. What came from the cache is part of its input."""
        cached = _number(total.get("cached_input_tokens"))
        self.session.usage = Counter(
            input_tokens=max(0, _number(total.get("input_tokens")) - cached),
            cache_read_input_tokens=cached,
            output_tokens=_number(total.get("output_tokens")),
        )

    def _withdraw(self, turn_count: int) -> None:
        """Takes the last turns back, with all that came of them."""
        if not self.turns:
            return
        start = self.turns[-min(turn_count, len(self.turns))]
        withdrawn = len(self.kept) - start
        self.result.mapped -= withdrawn
        self.result.skipped["rolled_back"] += withdrawn
        del self.kept[start:]
        self.turns = [turn for turn in self.turns if turn < start]
        self.lines.forget_said()


def _remote(url: Any, cwd: str) -> str:
    """Owner and name of the repository, without the host and without what somebody wrote into its address. "" where
    the folder has the same name: then it is called as every other door calls it."""
    match = _REMOTE.fullmatch(url.strip()) if isinstance(url, str) and len(url) <= 500 else None
    path = match.group(1).rstrip("/").removesuffix(".git") if match else ""
    folder = [part for part in cwd.replace("\\", "/").split("/") if part]
    return "" if folder and path.rpartition("/")[2] == folder[-1] else path


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
