"""A batch of observations on its way to the store, cleaned. Here every text, key and JSON passes `privacy`, once."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypedDict
from zoneinfo import available_timezones

from memory import privacy
from memory.models import subject
from memory.own_briefs import is_own_brief, split_own_briefs
from memory.transcript import KINDS, ROLES, Incoming
from projects.models import Agent

OLDEST = datetime(2000, 1, 1, tzinfo=UTC)
# A clock that runs ahead further than this is wrong: what happened did not happen in the future.
CLOCK_MAY_RUN_AHEAD = timedelta(minutes=10)
MOST_SUBJECTS = 20
MOST_PATHS = 200
_INT32 = 2**31
_LARGEST_SEQ = 2**53
_KINDS = frozenset(KINDS)
_ROLES = frozenset(ROLES)


class BadCapture(ValueError):
    """A batch that cannot be taken as a whole: which field, a stable code, a sentence. Nothing of it is stored."""

    def __init__(self, field: str, code: str, message: str) -> None:
        super().__init__(message)
        self.field, self.code, self.message = field, code, message


class BrokenObservation(ValueError):
    """One observation that cannot be taken; the rest of its batch can. `code` is counted and told."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ErrorAt(TypedDict):
    index: int
    code: str


class Receipt(TypedDict):
    """What became of a batch: received = accepted + duplicates + the sum of dropped."""

    accepted: int
    duplicates: int
    dropped: dict[str, int]
    errors: list[ErrorAt]


class Row(NamedTuple):
    """One observation, cleaned, as the JSON object that capture_store reads its columns from.

    `number` is its place in the call; `trace` tells a line that stands in another session too: id, kind, time as sent.
    """

    json: str
    is_turn: bool
    number: int
    trace: tuple[str, str, str] | None = None


@dataclass(slots=True)
class Batch:
    """What one call brings for one session. Made by `open_batch`; `add` and `refuse` take its observations in order."""

    project_id: int
    agent_id: int
    session: str
    now: datetime
    subjects: tuple[tuple[str, str], ...] = ()
    timezone: str = ""
    cwd: str = ""
    batch_id: str | None = None
    source_format: str = "api"
    # Whether lines that this agent's other sessions hold are left out, as a transcript's copies are.
    leaves_out_copies: bool = False
    rows: list[Row] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    errors: list[ErrorAt] = field(default_factory=list)
    copied: list[int] = field(default_factory=list)
    _last_seq: int | None = None
    _said: list[object] = field(default_factory=list)

    def add(self, index: int, one: Incoming) -> None:
        """Cleans one observation and takes it, or counts why not."""
        if self.batch_id is not None:
            self._said.append([one.id, one.kind, one.role, one.text, one.tool, one.exit_code])
        try:
            row = self._row(index, one)
        except BrokenObservation as broken:
            self.refuse(index, broken.code)
            return
        if one.kind not in _KINDS:
            self.errors.append({"index": index, "code": "unknown_kind"})
        self.rows.append(row)

    def refuse(self, index: int, code: str) -> None:
        self.dropped[code] += 1
        self.errors.append({"index": index, "code": code})

    def digest(self) -> str:
        """Tells a batch that is sent again from another one under the same name. Hex sha256."""
        said = json.dumps([self._said, sorted(self.dropped.items())], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def reused(self) -> Receipt:
        """The answer of a batch whose name stands for another one: nothing of it is stored, all of it is counted."""
        count = len(self.rows) + self.dropped.total()
        errors: list[ErrorAt] = [{"index": index, "code": "batch_id_reused"} for index in range(count)]
        return {
            "accepted": 0,
            "duplicates": 0,
            "dropped": {"batch_id_reused": count} if count else {},
            "errors": errors,
        }

    def receipt(self, accepted: int) -> Receipt:
        return {
            "accepted": accepted,
            "duplicates": len(self.rows) - accepted,
            "dropped": {**self.dropped, "copied": len(self.copied)} if self.copied else dict(self.dropped),
            "errors": self.errors + [ErrorAt(index=index, code="copied") for index in self.copied],
        }

    def leave_out(self, places: Collection[int]) -> None:
        """Takes the rows at these places out: copies of lines that another session holds. Nothing of them is lost."""
        self.copied += [self.rows[place].number for place in sorted(places)]
        self.rows = [row for place, row in enumerate(self.rows) if place not in places]

    def _row(self, index: int, one: Incoming) -> Row:
        if one.role not in _ROLES:
            raise BrokenObservation("bad_role")
        kind, clean = _cleaned(one.kind if one.kind in _KINDS else "meta", one.text)
        occurred_at, source = self._time(one.occurred_at)
        columns = {
            "external_id": _identifier(one.id) if one.id is not None else None,
            "seq": self._place(one.seq),
            "kind": kind,
            "role": one.role,
            "text": clean.text,
            "original_length": len(one.text),
            "tool": _tool(one.tool) if len(one.tool) <= 64 else short(one.tool, 200),
            "call_id": short(one.call_id, 512),
            "exit_code": _exit_code(one.exit_code),
            "is_error": one.is_error,
            "paths": _paths(one.paths),
            "sidechain": one.sidechain,
            "occurred_at": occurred_at.astimezone(UTC).isoformat(),
            "occurred_source": source,
            "received_at": self.now.isoformat(),
            "findings": [finding.as_dict() for finding in clean.findings],
            "payload": None if one.payload is None else privacy.clean_json(one.payload).value,
        }
        is_turn = kind == "message" and one.role == "user" and not one.sidechain
        trace = None
        if self.leaves_out_copies and columns["external_id"] and source == "sent":
            trace = (str(columns["external_id"]), kind, str(columns["occurred_at"]))
        return Row(json.dumps(columns, ensure_ascii=False, separators=(",", ":")), is_turn, index, trace)

    def _place(self, seq: int | None) -> int | None:
        """A caller's own number; what comes without one stays behind the one before it."""
        if seq is not None:
            if not 0 <= seq <= _LARGEST_SEQ:
                raise BrokenObservation("bad_seq")
            self._last_seq = seq
        return self._last_seq

    def _time(self, occurred_at: datetime | None) -> tuple[datetime, str]:
        if occurred_at is None or not OLDEST <= occurred_at <= self.now + CLOCK_MAY_RUN_AHEAD:
            return self.now, "server"
        # Python knows offsets of up to 24 hours, Postgres of up to 16.
        return occurred_at.astimezone(UTC), "sent"


def open_batch(
    agent: Agent,
    session: str,
    now: datetime,
    *,
    subjects: Iterable[str] = (),
    timezone: str = "",
    cwd: str = "",
    batch_id: str | None = None,
    source_format: str = "api",
    leaves_out_copies: bool = False,
) -> Batch:
    """An empty batch whose frame is checked. Raises BadCapture."""
    return Batch(
        project_id=agent.project_id,
        agent_id=agent.pk,
        session=_framed("external_id", session),
        now=now,
        subjects=_subjects(subjects),
        timezone=_timezone(timezone),
        cwd=short(cwd, 1000),
        batch_id=None if batch_id is None else _framed("batch_id", batch_id),
        source_format=source_format,
        leaves_out_copies=leaves_out_copies,
    )


def short(text: str, limit: int) -> str:
    """A label: cleaned, on one line, at most `limit` characters."""
    return privacy.clean_text(text, limit).text.replace("\n", " ")[:limit] if text else ""


@functools.lru_cache(maxsize=1024)
def _tool(name: str) -> str:
    # An agent has a few tools, and names one in every other observation.
    return short(name, 200)


def _cleaned(kind: str, text: str) -> tuple[str, privacy.CleanText]:
    """Our own brief coming back is no news: the whole of it is a `brief`, a part of a text is cut out of it."""
    rest, briefs = split_own_briefs(text)
    if briefs and not rest.strip():
        return "brief", privacy.clean_text(text)
    text = rest
    clean = privacy.clean_text(text)
    # Colours or strange line ends may have hidden it from the first look.
    return ("brief", clean) if is_own_brief(clean.text) else (kind, clean)


def _identifier(raw: str) -> str:
    try:
        return privacy.clean_id(raw)
    except privacy.BadIdentifier:
        raise BrokenObservation("bad_id") from None


def _framed(field: str, raw: str) -> str:
    try:
        return privacy.clean_id(raw)
    except privacy.BadIdentifier as bad:
        raise BadCapture(field, "bad_id", str(bad)) from None


def _exit_code(code: int | None) -> int | None:
    if code is None or -_INT32 <= code < _INT32:
        return code
    # Windows reports a crash as an unsigned number (3221225477 is 0xC0000005).
    if code < 2 * _INT32 and code > 0:
        return code - 2 * _INT32
    raise BrokenObservation("bad_exit_code")


def _paths(paths: Iterable[str]) -> list[str]:
    return [clean for path in list(paths)[:MOST_PATHS] if (clean := short(path, 1000))]


def subject_of(written: str, field: str = "subjects") -> tuple[str, str]:
    """Type and id of a subject as written. Raises BadCapture."""
    try:
        kind, ident = subject.split(written)
        privacy.clean_id(ident, 4 * subject.MAX_LENGTH)
    except (subject.BadSubject, privacy.BadIdentifier) as bad:
        raise BadCapture(field, "bad_subject", str(bad)) from None
    return kind, ident


def _subjects(written: Iterable[str]) -> tuple[tuple[str, str], ...]:
    # Each is looked at for secrets, so nobody's thousands are: the same one written often counts once.
    spelled = list(dict.fromkeys(written))
    if len(spelled) > MOST_SUBJECTS:
        raise BadCapture("subjects", "too_many", f"A session is about at most {MOST_SUBJECTS} subjects.")
    return tuple(dict.fromkeys(subject_of(one, f"subjects.{number}") for number, one in enumerate(spelled)))


def _timezone(name: str) -> str:
    if name and name not in _timezones():
        message = "This is no time zone. Use a name such as Europe/Berlin or UTC."
        raise BadCapture("timezone", "bad_timezone", message)
    return name


@functools.cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones())
