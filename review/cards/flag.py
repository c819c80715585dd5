"""One thing to look at twice on a card (a value)."""

from __future__ import annotations

from dataclasses import dataclass, field

SOURCE, WORD = "source", "word"
# A flag of a lower rank speaks against approving: no button suggests it.
GRAVE = 28


@dataclass(frozen=True)
class Flag:
    """A finding and what to do about it. `about`: `source` or `word`; `rank`: the gravest is 0."""

    finding: str
    advice: str
    about: str = WORD
    rank: int = field(default=50, compare=False)


def isolated(words: str, most: int = 40) -> str:
    """Agent text inside a sentence of ours: isolated, so that a word of another script does not turn it round."""
    seen = " ".join(words.split())
    return f"\u2068{seen if len(seen) <= most else seen[:most] + '…'}\u2069"
