"""Where a model's quote stands in what was captured (values).

A quote is never made up or mended: what is found is a true slice of the text. Only white space, quotation marks and
dashes may differ between the quote and the slice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memory.transcript import Quote, Seen

# Without a number it is looked for in every observation: too short a quote would be found anywhere.
SHORTEST = 3

_SAME = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—−", "-"),
        "\u00a0": " ",
    }
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def find(words: str, number: int | None, numbered: Mapping[int, Seen], order: Sequence[int]) -> Quote | None:
    """The slice of observation `number` that the quote is, else of the first in `order` that holds it; else None."""
    wanted = words.strip()
    if not any(letter.isalnum() for letter in wanted):
        return None
    places = [number] if number in numbered else []
    if len(wanted) >= SHORTEST:
        places += [one for one in order if one != number]
    for place in places:
        if place is None:
            continue
        seen = numbered[place]
        span = _exact(seen.text, wanted) or _alike(seen.text, wanted)
        if span is not None:
            return Quote(seen.ref, *span, seen.text[span[0] : span[1]])
    return None


def _exact(text: str, wanted: str) -> tuple[int, int] | None:
    start = text.find(wanted)
    while wanted and start >= 0:
        end = start + len(wanted)
        if _stands_alone(text, start, end):
            return start, end
        start = text.find(wanted, start + 1)
    return None


def _alike(text: str, wanted: str) -> tuple[int, int] | None:
    """As `_exact`, with white space folded and marks unified; "\\n" written out counts as a line break."""
    folded, places = _folded(text)
    for form in (
        wanted,
        wanted.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"'),
        wanted.strip("\"'“”„«»‘’ "),
    ):
        needle = _folded(form)[0].strip()
        start = folded.find(needle) if len(needle) >= SHORTEST else -1
        while start >= 0:
            first, last = places[start], places[start + len(needle) - 1] + 1
            if _stands_alone(text, first, last):
                return first, last
            start = folded.find(needle, start + 1)
    return None


def _folded(text: str) -> tuple[str, list[int]]:
    """The text with runs of white space as one blank and marks unified, and where each letter of it stands."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text.translate(_SAME)):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            letter = " "
        letters.append(letter)
        places.append(place)
    return "".join(letters), places


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the slice begins and ends between words: "5" is not said by "5433"."""
    return not (_joins(text, start) or _joins(text, end))


def _joins(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    left, right = text[place - 1], text[place]
    return left.isalnum() and right.isalnum() and not (_UNSPACED.match(left) or _UNSPACED.match(right))
