"""What the classifier says about a text: a span, the rule that saw it, how sure it is. Never the text itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Gravest first: a reviewer must choose about health; payment and contact data tie a text to a person.
CATEGORIES = ("secret", "health", "payment", "contact")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`text[start:end]` of the cleaned text, in code points, is of this category. A secret's is its placeholder."""

    start: int
    end: int
    category: str
    rule: str
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """As stored in a JSON column; `findings_from` reads it back."""
        return {
            "category": self.category,
            "rule": self.rule,
            "start": self.start,
            "end": self.end,
            "confidence": self.confidence,
        }


def findings_from(stored: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """The findings of a JSON column, in the order of the text. Raises KeyError for what `as_dict` did not write."""
    return tuple(
        sorted(
            Finding(
                start=int(row["start"]),
                end=int(row["end"]),
                category=str(row["category"]),
                rule=str(row["rule"]),
                confidence=float(row["confidence"]),
            )
            for row in stored
        )
    )


def worst_category(findings: Iterable[Finding]) -> str | None:
    """The gravest category among them, or None when there are none."""
    present = {finding.category for finding in findings}
    return next((category for category in CATEGORIES if category in present), None)


def mask(text: str, findings: Iterable[Finding], categories: Iterable[str] = CATEGORIES) -> str:
    """The text with the letters and digits of the findings as dots, for a reader who may not see them.

    The length stays, so spans still fit. A secret's placeholder is no secret and stays readable.
    """
    wanted = frozenset(categories) - {"secret"}
    letters = list(text)
    for finding in findings:
        if finding.category in wanted:
            for index in range(finding.start, min(finding.end, len(letters))):
                if letters[index].isalnum():
                    letters[index] = "•"
    return "".join(letters)
