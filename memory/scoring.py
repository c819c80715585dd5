"""How good is a distiller? Its proposals against sessions with written-down expectations. Plain values, no ORM.

The rules are those of the gold files: a required fact is found when one proposal holds every `must_contain` item and
cites one of `evidence_index`; a `must_not` string in a proposal's text, key or value is an error; what matches nothing
expected, or exceeds `max_facts` or `expected_count`, is junk. Type and attributes are figures of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.lint import faults
from memory.transcript import Candidate, Seen


@dataclass(frozen=True, slots=True)
class Proposed:
    """One proposal as it is scored; `cited` are the indices of the observations it quotes."""

    type: str
    key: str
    value: Any
    text: str
    cited: frozenset[int]
    expires_at: datetime | None = None

    @classmethod
    def from_candidate(cls, candidate: Candidate) -> Proposed:
        cited = frozenset(quote.ref for quote in candidate.quotes)
        return cls(candidate.type, candidate.key, candidate.value, candidate.text, cited, candidate.expires_at)


@dataclass(slots=True)
class SessionScore:
    """One session: which required facts were found, and what was proposed that should not have been."""

    id: str
    required: int = 0
    found: int = 0
    missed: list[list[Any]] = field(default_factory=list)
    must_not_errors: list[str] = field(default_factory=list)
    junk: int = 0
    junk_texts: list[str] = field(default_factory=list)
    lint_faults: int = 0
    typed: int = 0
    type_agreed: int = 0
    attributes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Total:
    """All sessions pooled."""

    sessions: int
    required: int
    found: int
    must_not_errors: int
    junk: int
    lint_faults: int
    type_agreement: float
    attributes: Mapping[str, int]

    @property
    def recall(self) -> float:
        return self.found / self.required if self.required else 1.0

    @property
    def junk_per_session(self) -> float:
        return self.junk / self.sessions if self.sessions else 0.0


def seen_from_gold(session: Mapping[str, Any]) -> list[Seen]:
    """The observations of a gold session; `ref` is the index that its `evidence_index` speaks of."""
    return [
        Seen(
            ref=int(line["i"]),
            kind=line["kind"],
            role=line["role"],
            text=line["text"],
            tool=line.get("tool") or "",
            call_id=line.get("call_id") or "",
            exit_code=line.get("exit_code"),
            is_error=bool(line.get("is_error", False)),
            paths=tuple(line.get("paths") or ()),
            sidechain=bool(line.get("sidechain", False)),
            occurred_at=datetime.fromisoformat(line["ts"]) if line.get("ts") else None,
        )
        for line in session["session"]
    ]


def score_session(gold: Mapping[str, Any], proposals: Sequence[Proposed]) -> SessionScore:
    """Scores one session of a gold file."""
    score = SessionScore(id=str(gold.get("id", "")))
    matched: set[int] = set()
    for expected in gold.get("expected_facts", []):
        hits = [index for index, proposed in enumerate(proposals) if _matches(expected, proposed)]
        matched.update(hits)
        if expected.get("optional"):
            continue
        score.required += 1
        if not hits:
            score.missed.append(expected["must_contain"])
            continue
        score.found += 1
        score.typed += 1
        score.type_agreed += any(proposals[index].type in _types_of(expected) for index in hits)
        for name, holds in _attributes(expected, [proposals[index] for index in hits]).items():
            score.attributes[f"{name}:{'ok' if holds else 'off'}"] += 1
    for proposed in proposals:
        words = _searched(proposed)
        score.must_not_errors += [banned for banned in gold.get("must_not", []) if banned in words]
        score.lint_faults += bool(faults(proposed.text))
    score.junk_texts = [proposed.text for index, proposed in enumerate(proposals) if index not in matched]
    limits = [gold[name] for name in ("max_facts", "expected_count") if name in gold]
    score.junk = max([len(score.junk_texts), *(len(proposals) - limit for limit in limits)])
    return score


def pool(scores: Collection[SessionScore]) -> Total:
    """One figure for all sessions together."""
    typed = sum(score.typed for score in scores)
    return Total(
        sessions=len(scores),
        required=sum(score.required for score in scores),
        found=sum(score.found for score in scores),
        must_not_errors=sum(len(score.must_not_errors) for score in scores),
        junk=sum(score.junk for score in scores),
        lint_faults=sum(score.lint_faults for score in scores),
        type_agreement=sum(score.type_agreed for score in scores) / typed if typed else 1.0,
        attributes=sum((score.attributes for score in scores), Counter()),
    )


def _searched(proposed: Proposed) -> str:
    return "\n".join((proposed.text, proposed.key, json.dumps(proposed.value, ensure_ascii=False, default=str)))


def _matches(expected: Mapping[str, Any], proposed: Proposed) -> bool:
    if proposed.cited.isdisjoint(expected["evidence_index"]):
        return False
    words = _searched(proposed).casefold()
    return all(
        any(choice.casefold() in words for choice in (item if isinstance(item, list) else [item]))
        for item in expected["must_contain"]
    )


def _types_of(expected: Mapping[str, Any]) -> set[str]:
    merged = expected.get("may_merge")
    return {expected["type"], *expected.get("types_ok", ()), *(merged if isinstance(merged, list) else ())}


def _attributes(expected: Mapping[str, Any], hits: Sequence[Proposed]) -> dict[str, bool]:
    """What a plain value can answer; labels, scope and supersedes are decided after distillation."""
    found: dict[str, bool] = {}
    if "key" in expected:
        found["key"] = any(hit.key.rsplit(":", 1)[-1].rsplit(".", 1)[-1] == expected["key"] for hit in hits)
    if "due" in expected:
        found["due"] = any(_due(hit) == datetime.fromisoformat(expected["due"]) for hit in hits)
    if "ttl_until" in expected:
        found["ttl_until"] = any(
            hit.expires_at is not None and hit.expires_at.date().isoformat() == expected["ttl_until"] for hit in hits
        )
    if expected.get("expires_after_due"):
        found["expires_after_due"] = any(
            hit.expires_at is not None and (due := _due(hit)) is not None and hit.expires_at > due for hit in hits
        )
    return found


def _due(proposed: Proposed) -> datetime | None:
    due = proposed.value.get("due") if isinstance(proposed.value, dict) else None
    return datetime.fromisoformat(due) if due and "T" in due else None
