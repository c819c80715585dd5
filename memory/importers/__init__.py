"""Readers of other programs' transcripts: files in, plain values out."""

from __future__ import annotations

from pathlib import Path

from memory.importers import claude_code
from memory.importers.reading import detect, sentence_for, why_not
from memory.transcript import ReadResult

FORMATS = ("claude_code",)
AUTO = "auto"


def read_file(path: Path, file_format: str = AUTO) -> ReadResult:
    """One transcript in the named format, or in the one its beginning shows. Never raises on what the file holds:
    a file that is none comes back with `error` set."""
    try:
        name = detect(path) if file_format == AUTO else file_format
        if not name:
            return ReadResult(str(path), "", error=why_not(path))
    except OSError as error:
        return ReadResult(str(path), "", error=sentence_for(path, error))
    return claude_code.read(path)
