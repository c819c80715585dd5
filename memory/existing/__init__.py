"""Readers of memories that were kept elsewhere: bytes in, plain lines out. What is read: docs/existing-memories.md.

No ORM here; what becomes of the lines is `memory.memories_in`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from memory.existing import markdown, records, tables
from memory.existing.lines import FIELDS, Found, MemoryLine, Unreadable

__all__ = ["FIELDS", "FORMATS", "LARGEST_BYTES", "Found", "MemoryLine", "Unreadable", "read"]

FORMATS = ("markdown", "csv", "json", "jsonl")
LARGEST_BYTES = 20_000_000
_BY_ENDING = {
    ".md": "markdown",
    ".mdc": "markdown",
    ".markdown": "markdown",
    ".txt": "markdown",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# Rules files have names without an ending.
_RULES = {".cursorrules", ".windsurfrules", ".clinerules"}


def read(name: str, data: bytes, *, columns: Mapping[str, str] | None = None) -> Found:
    """The memories of one file; `name` tells its format. `columns` maps our fields to the columns of a CSV.

    Raises Unreadable with a sentence for a person.
    """
    if len(data) > LARGEST_BYTES:
        raise Unreadable(f"{name} is larger than {LARGEST_BYTES // 1_000_000} MB. Split it, and import the parts.")
    text = _text(name, data)
    file_format = _BY_ENDING.get(PurePath(name).suffix.lower(), "")
    if not file_format:
        file_format = "markdown" if PurePath(name).name.lower() in _RULES else _looks_like(text)
    if file_format == "csv":
        return tables.read(text, columns)
    if file_format in ("json", "jsonl"):
        return records.read(text, file_format)
    return markdown.read(text)


def _text(name: str, data: bytes) -> str:
    if not data.strip():
        raise Unreadable(f"{name} is empty: there is nothing to import.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(f"{name} is UTF-16; save it as UTF-8 and import it again.")
    if b"\x00" in data[:4096]:
        raise Unreadable(f"{name} is a binary file. Memories come as Markdown, CSV, JSON or JSONL.")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        # Read as something else, "Müller" would become a name that nobody has.
        raise Unreadable(f"{name} is not UTF-8. Save it as UTF-8 and import it again.") from None


def _looks_like(text: str) -> str:
    head = text.lstrip()[:1]
    if head == "[":
        return "json"
    return "jsonl" if head == "{" else "markdown"
