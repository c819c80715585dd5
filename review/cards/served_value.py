"""What agents get beside a memory's sentence. A reviewer signs for both, so what the sentence does not say is shown."""

from __future__ import annotations

import json
import re
from typing import Any

from memory import rendering
from memory.models import Fact

# The names our own local reader gives to the parts of a value. Any other name is somebody's words.
OUR_NAMES = frozenset(
    """by choice command due due_on fix goal install name needed noted number owners path rule run_first script state
    until value version what wish""".split()  # noqa: SIM905  (words read better as text)
)


def unsaid(fact: Fact) -> str:
    """The value as agents get it, when it says anything that the sentence does not; else ""."""
    if _is_said(fact.value, rendering.one_line(fact.text).casefold()):
        return ""
    return fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False)


def _is_said(value: Any, sentence: str) -> bool:
    if value is None or value in ("", [], {}):
        return True
    if isinstance(value, list):
        return all(_is_said(item, sentence) for item in value)
    if isinstance(value, dict):
        return OUR_NAMES.issuperset(value) and all(_is_said(item, sentence) for item in value.values())
    # Whether something is so or not, no word of a sentence says by being there.
    if isinstance(value, bool):
        return False
    said = rendering.one_line(str(value)).casefold().rstrip(".")
    # Whole words alone: 5 is not said by 5433.
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", sentence) is not None
