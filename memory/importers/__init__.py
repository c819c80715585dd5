"""Readers of other programs' transcripts: files in, plain values out."""

from __future__ import annotations

from pathlib import Path

from memory.importers import chat_logs, claude_code, codex, detection, plain_lines
from memory.importers.exchanges import ANTHROPIC, OPENAI
from memory.importers.reading import Source, sentence_for
from memory.transcript import ReadResult

FORMATS = detection.FORMATS
AUTO = "auto"


def detect(path: Path) -> str:
    """The format of a file, or "" for one that is in none."""
    return detection.detect(Source.of(path))


def read_file(path: Path, file_format: str = AUTO) -> ReadResult:
    """One transcript in the named format, or in the one its beginning shows. Never raises on what the file holds:
    a file that is none comes back with `error` set."""
    return read_source(Source.of(path), file_format)


def read_source(source: Source, file_format: str = AUTO) -> ReadResult:
    """`read_file` for what came some other way."""
    try:
        name = detection.detect(source) if file_format == AUTO else file_format
        if not name:
            return ReadResult(source.label, "", error=detection.why_not(source))
    except OSError as error:
        return ReadResult(source.label, "", error=sentence_for(source, error))
    if name in (OPENAI, ANTHROPIC):
        return chat_logs.read(source, name)
    readers = {claude_code.FORMAT: claude_code.read, codex.FORMAT: codex.read, plain_lines.FORMAT: plain_lines.read}
    return readers[name](source)
