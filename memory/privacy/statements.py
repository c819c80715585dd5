"""What the classifier sees in a statement: in its sentence, in what agents get beside it, and in its quotes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from memory.privacy.cleaning import clean_text


def of_statement(text: str, key: str, value: Any, quotes: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The findings of the sentence (with spans), then of key and value and of the quotes (their kinds only)."""
    found = [{**finding.as_dict(), "in": "text"} for finding in clean_text(text).findings]
    beside = [("value", f"{key} {json.dumps(value, ensure_ascii=False, default=str)}")]
    beside += [("quote", quote) for quote in quotes]
    seen = {row["category"] for row in found}
    for origin, words in beside:
        for finding in clean_text(words).findings:
            if finding.category not in seen:
                seen.add(finding.category)
                # Its span belongs to another text than the sentence: an empty one marks nothing.
                found.append({**finding.as_dict(), "start": 0, "end": 0, "in": origin})
    return found
