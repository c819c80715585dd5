"""What each rule of the local reader is worth: `python -m benchmarks.ablation` prints the table of the docs.

Leaves out one rule after another and reads all sessions with written-down expectations, the short ones of
`tests/cases/distill_reach.jsonl` and the routine mix: what is found, what is forbidden, what is junk.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import routine_mix
from memory.distillers.local import RULES, LocalDistiller
from memory.privacy import clean_text
from memory.scoring import Proposed, Total, pool, score_session, seen_from_gold
from memory.transcript import Candidate, Seen

CASES = Path(__file__).resolve().parent.parent / "tests" / "cases"
PUBLIC = Path(__file__).resolve().parents[2] / "shared" / "cases" / "distill_gold_real.jsonl"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
SHORT_AT = datetime(2026, 11, 12, 15, 0, tzinfo=UTC)  # when the short sessions were said, as their dates want it


@dataclass(frozen=True, slots=True)
class Row:
    """The figures with one set of rules."""

    handed: Total
    later: Total
    heard: int
    heard_of: int
    from_routine: int


def measure(rules: Sequence[str]) -> Row:
    """Reads everything with these rules."""
    reader = LocalDistiller(rules)
    handed = [*_lines(CASES / "distill_gold.jsonl"), *(_lines(PUBLIC) if PUBLIC.exists() else [])]
    short = [line for line in _lines(CASES / "distill_reach.jsonl") if line["heard"]]
    routine = [session for session in routine_mix.mix() if not session["teaches"]]
    return Row(
        handed=_pooled(reader, handed),
        later=_pooled(reader, _lines(CASES / "distill_gold_more.jsonl")),
        heard=sum(bool(_read(reader, _talk(line["lines"]))) for line in short),
        heard_of=len(short),
        from_routine=sum(len(_read(reader, seen_from_gold(session))) for session in routine),
    )


def table() -> str:
    """As Markdown, the whole first, then one line for each rule that is left out."""
    lines = [
        "| left out | handed | written later | forbidden | junk | heard | from routine |",
        "|---|---|---|---|---|---|---|",
        _line("nothing", measure(list(RULES))),
    ]
    lines += [_line(rule, measure([one for one in RULES if one != rule])) for rule in RULES]
    return "\n".join(lines)


def _line(name: str, row: Row) -> str:
    forbidden = row.handed.must_not_errors + row.later.must_not_errors
    junk = row.handed.junk + row.later.junk
    found = f"{row.handed.found}/{row.handed.required} | {row.later.found}/{row.later.required}"
    return f"| {name} | {found} | {forbidden} | {junk} | {row.heard}/{row.heard_of} | {row.from_routine} |"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _pooled(reader: LocalDistiller, gold: Sequence[Mapping[str, Any]]) -> Total:
    scores = []
    for session in gold:
        found = _read(reader, seen_from_gold(session), session.get("timezone", "UTC"))
        scores.append(score_session(session, [Proposed.from_candidate(one) for one in found]))
    return pool(scores)


def _read(reader: LocalDistiller, seen: Sequence[Seen], zone: str = "UTC") -> list[Candidate]:
    """What would be proposed in a project as it is shipped: cleaned first, feelings off."""
    cleaned = [replace(one, text=clean_text(one.text).text) for one in seen]
    found = reader.read(cleaned, timezone=zone, now=NOW)
    return [one for one in found if one.nature != "sentiment"]


def _talk(lines: Sequence[Sequence[Any]]) -> list[Seen]:
    """The short form: who, text, and what else the line needs (tests/memory/talk.py writes the same)."""
    roles = {"user": "user", "say": "assistant", "run": "assistant", "ok": "tool", "fail": "tool"}
    kinds = {"user": "message", "say": "message", "run": "tool_call", "ok": "tool_result", "fail": "tool_result"}
    return [
        Seen(
            ref,
            kinds[name],
            roles[name],
            rest[0] if rest else "",
            tool="" if kinds[name] == "message" else rest[1] if len(rest) > 1 else "Bash",
            exit_code={"ok": 0, "fail": 1}.get(name),
            is_error=name == "fail",
            occurred_at=SHORT_AT,
        )
        for ref, (name, *rest) in enumerate(lines)
    ]


if __name__ == "__main__":
    import django

    django.setup()
    sys.stdout.write(table() + "\n")
