"""Memories in a CSV (or TSV), with its columns matched to our fields: guessed by their names, corrected by a person."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from memory.existing.lines import FIELDS, Found, MemoryLine, Unreadable
from memory.existing.records import moment

SAMPLE_ROWS = 5
# By these a table is known as an export of ours.
OWN_COLUMNS = frozenset({"id", "status", "type", "key", "text", "times_seen"})
_DELIMITERS = ",;\t|"
# Names that other programs, and people, give these columns.
NAMES: dict[str, tuple[str, ...]] = {
    "text": ("text", "memory", "fact", "content", "note", "statement", "sentence", "value", "description"),
    "type": ("type", "category", "kind", "fact_type"),
    "key": ("key", "name", "slug"),
    "subject": ("subject", "about", "entity", "user_id", "customer", "customer_id", "entity_id"),
    "expires_at": ("expires_at", "expires", "expiration_date", "valid_until", "until"),
}


def read(text: str, columns: Mapping[str, str] | None) -> Found:
    """`columns` maps fields to column names; None guesses. Without a column for the text no line is read, and the
    caller asks. Raises Unreadable."""
    rows = _rows(text)
    header = [cell.strip() for cell in rows[0]]
    found = Found("csv", columns=header, sample=[_padded(row, len(header)) for row in rows[1 : SAMPLE_ROWS + 1]])
    found.guessed = _checked(columns, header) if columns is not None else _guess(header)
    if "text" not in found.guessed:
        return found
    places = {name: header.index(column) for name, column in found.guessed.items()}
    own = header.index("id") if OWN_COLUMNS.issubset(header) else None
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = _padded(row, len(header))
        said = {name: unguarded(cells[place].strip()) for name, place in places.items()}
        if not said["text"]:
            found.skipped["no_text"] += 1
            continue
        found.lines.append(
            MemoryLine(
                number,
                said["text"],
                type=said.get("type", ""),
                key=said.get("key", ""),
                subject=said.get("subject", ""),
                expires_at=moment(said.get("expires_at")),
                own_id=cells[own].strip() if own is not None else "",
            )
        )
    return found


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def unguarded(cell: str) -> str:
    """What `guarded` was given."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell


def _rows(text: str) -> list[list[str]]:
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count) if any(sign in first for sign in _DELIMITERS) else ","
    # A cell may hold a whole document; a stray quote must not swallow the rest of the file as one.
    csv.field_size_limit(1_000_000)
    try:
        rows = [row for row in csv.reader(io.StringIO(text.replace("\x00", "")), delimiter=delimiter) if row]
    except csv.Error:
        raise Unreadable("This CSV cannot be read: a quote is not closed, or a cell is endless.") from None
    if len(rows) < 2:
        raise Unreadable("This CSV has no rows under its header.")
    if len(set(rows[0])) < len(rows[0]):
        raise Unreadable("Two columns of this CSV have the same name. Rename one, and import it again.")
    return rows


def _padded(row: list[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))][:width]


def _guess(header: list[str]) -> dict[str, str]:
    by_name = {column.casefold().replace(" ", "_"): column for column in header}
    guessed: dict[str, str] = {}
    for name, known in NAMES.items():
        column = next((by_name[one] for one in known if one in by_name and by_name[one] not in guessed.values()), None)
        if column is not None:
            guessed[name] = column
    return guessed


def _checked(columns: Mapping[str, str], header: list[str]) -> dict[str, str]:
    for name, column in columns.items():
        if name not in FIELDS:
            raise Unreadable(f"There is no field {name[:40]}. A column can be: {', '.join(FIELDS)}.")
        if column not in header:
            raise Unreadable(f"The CSV has no column {column[:80]}. It has: {', '.join(header)[:300]}.")
    return dict(columns)
