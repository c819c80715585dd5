"""How well statements are told apart: `python -m benchmarks.pairs [--round ROUND] [--wrong]`.

Every labelled pair of `tests/cases/pairs.jsonl` is compared as two statements of one subject without keys, with the
local vectors. A wrong merge is a pair that must stay apart and was called the same; a missed one must merge and was
neither called the same nor shown to a person as such. Exits with 1 where one of the two is above its bar.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory import embeddings, likeness

FILE = Path(__file__).resolve().parent.parent / "tests" / "cases" / "pairs.jsonl"
MOST_WRONG = 0.02
MOST_MISSED = 0.15


@dataclass
class Figures:
    """What became of the pairs of one category. `shown` must stay apart and was shown as nearly the same."""

    same: int = 0
    near: int = 0
    missed: int = 0
    kept_apart: int = 0
    shown: int = 0
    wrong: int = 0
    conflicts: int = 0
    conflicts_told: int = 0
    conflicts_invented: int = 0
    mistakes: list[tuple[dict[str, Any], likeness.Likeness]] = field(default_factory=list)

    @property
    def must_merge(self) -> int:
        return self.same + self.near + self.missed

    @property
    def must_not(self) -> int:
        return self.kept_apart + self.shown + self.wrong

    @property
    def wrong_share(self) -> float:
        return self.wrong / self.must_not if self.must_not else 0.0

    @property
    def missed_share(self) -> float:
        return self.missed / self.must_merge if self.must_merge else 0.0

    def count(self, pair: dict[str, Any], told: likeness.Likeness) -> None:
        if pair["must"] == "merge":
            self.same += told.verdict == likeness.SAME
            self.near += told.verdict == likeness.SAME_THING
            self.missed += told.verdict in (likeness.CONFLICTS, likeness.DIFFERENT)
        else:
            self.wrong += told.verdict == likeness.SAME
            self.shown += told.verdict == likeness.SAME_THING
            self.kept_apart += told.verdict in (likeness.CONFLICTS, likeness.DIFFERENT)
            self.conflicts += pair.get("conflict") is True
            self.conflicts_told += pair.get("conflict") is True and told.verdict == likeness.CONFLICTS
            self.conflicts_invented += pair.get("conflict") is False and told.verdict == likeness.CONFLICTS
        merged = told.verdict in (likeness.SAME, likeness.SAME_THING)
        if merged != (pair["must"] == "merge"):
            self.mistakes.append((pair, told))

    def add(self, other: Figures) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def pairs(rounds: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The labelled pairs, of these rounds or of all."""
    rows = [json.loads(row) for row in FILE.read_text("utf-8").split("\n") if row]
    return [row for row in rows if not rounds or row["round"] in rounds]


def measure(rows: Iterable[dict[str, Any]]) -> dict[str, Figures]:
    """The figures of each category, and of "all"."""
    found: dict[str, Figures] = defaultdict(Figures)
    for row in rows:
        found[row["category"]].count(row, likeness.compare(row["a"], row["b"], lambda row=row: _cosine(row)))
    every = Figures()
    for figures in found.values():
        every.add(figures)
    return {**found, "all": every}


def table(found: dict[str, Figures]) -> str:
    """As it stands in docs/reconciliation.md."""
    lines = [
        "| | must merge | same · shown · missed | must not | wrong merges | shown | conflicts told |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        merges = f"{one.same} · {one.near} · {one.missed} ({one.missed_share:.1%})"
        told = f"{one.conflicts_told} of {one.conflicts}"
        lines.append(
            f"| {name} | {one.must_merge} | {merges} | {one.must_not} | {one.wrong} ({one.wrong_share:.1%})"
            f" | {one.shown} | {told} |"
        )
    return "\n".join(lines)


def _cosine(row: dict[str, Any]) -> float:
    one, two = embeddings.embed([row["a"], row["b"]])
    return sum(a * b for a, b in zip(one, two, strict=True))


def main(arguments: Sequence[str]) -> int:
    """0 when both bars are kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--round", action="append", metavar="ROUND", help="only the pairs of this round")
    parser.add_argument("--wrong", action="store_true", help="list the pairs that came out wrong")
    options = parser.parse_args(arguments)
    found = measure(pairs(options.round))
    print(table(found))
    every = found["all"]
    if options.wrong:
        for pair, told in every.mistakes:
            print(f"{told.verdict} ({told.why}), must {pair['must']}: {pair['a']} | {pair['b']}")
    kept = every.wrong_share <= MOST_WRONG and every.missed_share <= MOST_MISSED
    print(
        f"wrong merges {every.wrong_share:.1%} (at most {MOST_WRONG:.0%}), missed {every.missed_share:.1%}"
        f" (at most {MOST_MISSED:.0%}): {'reached' if kept else 'MISSED'}",
        file=sys.stderr,
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
