"""What became of a transcript, by the importer's own books and by its rows."""

from __future__ import annotations

from typing import Any

from memory.models import Observation
from tests.cases.expect.registry import Look, check, figure


def book(look: Look) -> dict[str, Any]:
    found = look.last("import_file").body
    assert isinstance(found, dict), "the import said nothing"
    return found


@figure("observations")
def observations(look: Look) -> int:
    """Rows that were stored; the importer's own counts must come to the same."""
    rows, said = len(look.observations()), sum(result.rows or 0 for result in look.of("import_file"))
    assert rows == said, f"{rows} rows, the import says {said}"
    return rows


@figure("bad_lines")
def bad_lines(look: Look) -> int:
    return int(book(look)["bad"])


@check("bad_lines_reported")
def bad_lines_reported(look: Look, wanted: int) -> None:
    """Counted, and each told in a sentence that names its line."""
    found = book(look)
    assert found["bad"] == wanted, f"{found['bad']} counted, wanted {wanted}"
    told = [said for said in found["errors"] if "ine" in said]
    assert len(told) >= min(wanted, 1), f"not told: {found['errors']}"


@figure("compact_summary_kind")
def compact_summary_kind(look: Look) -> str:
    rows = _of_records(look, "isCompactSummary")
    assert rows, "no row of a compact summary"
    return ", ".join(sorted({row.kind for row in rows}))


@figure("subagent_lines_marked")
def subagent_lines_marked(look: Look) -> bool:
    rows = _of_records(look, "isSidechain")
    return bool(rows) and all(row.sidechain for row in rows)


@figure("meta_lines_not_user")
def meta_lines_not_user(look: Look) -> bool:
    rows = _of_records(look, "isMeta")
    return bool(rows) and all(row.role != "user" for row in rows)


@figure("unknown_types_counted_not_fatal")
def unknown_types_counted(look: Look) -> bool:
    """The import ended well, and every record is in its books under some name."""
    found = book(look)
    return look.last("import_file").http == 200 and found["books"]["balanced"] and bool(found["skipped"])


def _of_records(look: Look, flag: str) -> list[Observation]:
    """Rows that came of the records of the file with this flag. A row's id begins with its record's."""
    records = look.last("import_file").notes["records"]
    ids = {record["uuid"] for record in records if record.get(flag) is True and "uuid" in record}
    return [row for row in look.observations() if (row.external_id or "").partition("#")[0] in ids]
