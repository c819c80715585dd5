"""Files and folders as every importer walks and opens them: bytes in, records out, nothing trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from memory.transcript import ReadResult

# A line longer than this is counted as broken and passed over: one such line would need several times as much memory.
MAX_LINE_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_SUFFIXES = (".jsonl", ".json")
_TAIL_BYTES = 64 * 1024
_MOST_ERRORS = 20
_MOST_FAULTS = 100

WHERE_TRANSCRIPTS_LIVE = (
    "Claude Code keeps its transcripts as .jsonl files under ~/.claude/projects, Codex under ~/.codex/sessions."
)


class TooManyRecords(Exception):
    """A body with more records than one call may bring."""


class Allowance:
    """How many records may still be read. A file has none, for whoever reads it chose it."""

    def __init__(self, records: int) -> None:
        self._left = records

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyRecords


@dataclass(frozen=True, slots=True)
class Source:
    """Where a transcript comes from: a file, or the body of a call. `label` is what messages call it."""

    label: str
    name: str
    body: bytes | None = None
    allowance: Allowance | None = None

    @classmethod
    def of(cls, path: Path) -> Source:
        return cls(str(path), path.name)

    def spend(self) -> None:
        """Counts one record of this source. Raises TooManyRecords."""
        if self.allowance is not None:
            self.allowance.spend()

    def open(self) -> BinaryIO:
        return Path(self.label).open("rb") if self.body is None else BytesIO(self.body)


class NoTranscripts(Exception):
    """A path that holds nothing to import; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank: the JSON value in it, or why there is none.

    `replaced` counts the characters that were no valid UTF-8 and became U+FFFD.
    """

    number: int
    value: Any = None
    problem: str = ""
    replaced: int = 0


def walk(path: Path) -> list[Path]:
    """The transcript files under `path`, sorted; a file named outright is taken as it is.

    Folders are walked through links, each only once, so that a loop ends. Raises NoTranscripts.
    """
    try:
        if path.is_file():
            return [path]
        if path.is_dir():
            found = sorted(_files_under(path))
        elif path.exists():
            raise NoTranscripts(f"{path} is neither a file nor a folder.")
        else:
            raise NoTranscripts(f"{path} does not exist. {WHERE_TRANSCRIPTS_LIVE}")
    except (OSError, ValueError) as error:
        raise NoTranscripts(f"{path} cannot be opened: {_reason(error)}.") from error
    if not found:
        raise NoTranscripts(f"{path} holds no .jsonl file and no .json file. {WHERE_TRANSCRIPTS_LIVE}")
    return found


def _files_under(root: Path) -> Iterator[Path]:
    """The transcripts, and each folder that does not open: read like a file, it says why it cannot be."""
    seen: set[tuple[int, int]] = set()
    closed: list[str] = []
    for folder, names, files in os.walk(root, followlinks=True, onerror=lambda error: closed.append(error.filename)):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            names.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        for name in files:
            candidate = Path(folder, name)
            if name.lower().endswith(_SUFFIXES) and candidate.is_file():
                yield candidate
    yield from map(Path, closed)


def in_order_of_time(paths: list[Path]) -> list[Path]:
    """Oldest last line first: a resumed session copies lines of an earlier one, which so keeps them."""
    return sorted(paths, key=lambda path: (_last_timestamp(path), str(path)))


def _last_timestamp(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - _TAIL_BYTES))
            tail = handle.read(_TAIL_BYTES)
    except OSError:
        return ""
    for raw in reversed(tail.split(b"\n")):
        record = parse(raw)[0]
        if isinstance(record, dict) and isinstance(record.get("timestamp"), str):
            return str(record["timestamp"])
    return ""


def raw_lines(handle: BinaryIO) -> Iterator[bytes | None]:
    r"""Lines cut at b"\n" alone (a U+2028 inside a string is no line end); None stands for one that is too long."""
    pending: list[bytes] = []
    size = 0
    while chunk := handle.read(_CHUNK_BYTES):
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            yield (b"".join([*pending, part]) if size + len(part) <= MAX_LINE_BYTES else None)
            pending, size = [], 0
        size += len(rest)
        # What was gathered of a line that will be refused is dropped at once.
        pending = [*pending, rest] if size <= MAX_LINE_BYTES else []
    if size:
        yield b"".join(pending) if size <= MAX_LINE_BYTES else None


def read_lines(handle: BinaryIO) -> Iterator[Line]:
    """Every line that is not blank, with its JSON value. Never raises on content."""
    for number, raw in enumerate(raw_lines(handle), start=1):
        if raw is None:
            yield Line(number, problem=too_long())
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if not raw.strip():
            continue
        value, problem, replaced = parse(raw)
        yield Line(number, value, problem, replaced)


def too_long() -> str:
    return f"is longer than {MAX_LINE_BYTES // 1024 // 1024} MB"


def parse(raw: bytes) -> tuple[Any, str, int]:
    """The JSON value of these bytes, what is wrong with them, and how many characters were no valid UTF-8."""
    try:
        text, replaced = raw.decode("utf-8"), 0
    except UnicodeDecodeError:
        text = raw.decode("utf-8", errors="replace")
        replaced = max(1, text.count("\ufffd"))
    try:
        return json.loads(text), "", replaced
    except RecursionError:
        return None, "is nested too deeply", replaced
    except ValueError:
        # Also an integer of more digits than Python converts.
        return None, "is cut or is no JSON", replaced


def report(result: ReadResult, number: int, problem: str, code: str, what: str = "Line") -> None:
    """Says in `result` what is wrong with its line (or message) of that number, counted from 1."""
    if len(result.errors) < _MOST_ERRORS:
        result.errors.append(f"{what} {number} {problem}.")
    if len(result.faults) < _MOST_FAULTS:
        result.faults.append((number - 1, code))


def report_replaced(result: ReadResult, replaced: int) -> None:
    if replaced:
        result.errors.append(
            f"Not valid UTF-8, and replaced: {replaced} {'character' if replaced == 1 else 'characters'}."
        )


def _reason(error: Exception) -> str:
    return (error.strerror or "unknown reason").lower() if isinstance(error, OSError) else "it is no valid path"


def sentence_for(source: Source, error: OSError) -> str:
    """What to tell a person about a file the system would not let us read."""
    return f"{source.label} cannot be read: {_reason(error)}."
