"""Files and folders as every importer walks and opens them: bytes in, records out, nothing trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from memory.importers.counts import HARNESS_TYPES, scalar

# A line longer than this is counted as broken and passed over: one such line would need several times as much memory.
MAX_LINE_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_PROBE_LINES = 200
_PROBE_BYTES = 8 * 1024 * 1024
_TAIL_BYTES = 64 * 1024

WHERE_TRANSCRIPTS_LIVE = "Claude Code keeps its transcripts as .jsonl files under ~/.claude/projects."


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
        raise NoTranscripts(f"{path} holds no .jsonl file. {WHERE_TRANSCRIPTS_LIVE}")
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
            if name.lower().endswith(".jsonl") and candidate.is_file():
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
        record = _parse(raw)[0]
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
            yield Line(number, problem=f"is longer than {MAX_LINE_BYTES // 1024 // 1024} MB")
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if not raw.strip():
            continue
        value, problem, replaced = _parse(raw)
        yield Line(number, value, problem, replaced)


def _parse(raw: bytes) -> tuple[Any, str, int]:
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


def detect(path: Path) -> str:
    """The format's name ("claude_code"), or "" when the head of the file does not look like one we read."""
    with path.open("rb") as handle:
        for line in _head(handle):
            if _looks_like_claude(line.value):
                return "claude_code"
    return ""


def why_not(path: Path) -> str:
    """One sentence for a file that `detect` does not know."""
    with path.open("rb") as handle:
        start = handle.read(4096)
        if not start.strip():
            return f"{path} is empty: there is nothing to import."
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return f"{path} is UTF-16; save it as UTF-8 and import it again."
        if b"\x00" in start:
            return f"{path} is a binary file, no transcript. {WHERE_TRANSCRIPTS_LIVE}"
        handle.seek(0)
        objects = [line.value for line in _head(handle) if isinstance(line.value, dict)]
    if not objects:
        return f"{path} is no transcript: no line of its beginning is a JSON object. {WHERE_TRANSCRIPTS_LIVE}"
    if any("payload" in record and "type" in record for record in objects):
        return f"{path} looks like a Codex rollout; only Claude Code transcripts can be imported so far."
    return f"{path} is JSON, but no Claude Code transcript. {WHERE_TRANSCRIPTS_LIVE}"


def _head(handle: BinaryIO) -> Iterator[Line]:
    for count, line in enumerate(read_lines(handle), start=1):
        yield line
        if count >= _PROBE_LINES or handle.tell() > _PROBE_BYTES:
            return


def _looks_like_claude(record: Any) -> bool:
    if not isinstance(record, dict) or "payload" in record:
        return False
    if record.get("type") in ("user", "assistant"):
        return "message" in record
    kind = scalar(record.get("type"))
    if kind == "summary" or HARNESS_TYPES.fullmatch(kind):
        return True
    return isinstance(record.get("message"), dict) and "sessionId" in record


def _reason(error: Exception) -> str:
    return (error.strerror or "unknown reason").lower() if isinstance(error, OSError) else "it is no valid path"


def sentence_for(path: Path, error: OSError) -> str:
    """What to tell a person about a file the system would not let us read."""
    return f"{path} cannot be read: {_reason(error)}."
