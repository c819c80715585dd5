"""What somebody typed or pasted, taken apart (values): ids, sentences as agents print them, a name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory import rendering, short_ids

# A page of a brief; what is longer was not meant to be looked for.
MOST = 6_000
MOST_SENTENCES = 8
MOST_IDS = 40
# What may be a name or an id of somebody else's; a sentence is none.
NAME_LENGTH = 120

_QUOTES = dict.fromkeys("‘’‚‛′ʼ`´", "'") | dict.fromkeys("“”„‟″«»‹›", '"')
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
_ALIKE = str.maketrans(_QUOTES | _DASHES | {"…": "...", "\u00a0": " ", "\u00ad": ""})
_ID = re.compile(rf"(?<![0-9a-z-])([a-z])-([{short_ids.ALPHABET}]{{6,13}})(?![0-9a-z])")
_BARE_ID = re.compile(rf"[{short_ids.ALPHABET}]{{6,13}}")
# A line of a brief begins anew: `- [f-2k81hd] `, perhaps quoted or numbered by whoever passed it on.
_ITEM = re.compile(r"(?:^|(?<=\s))[>|*\s]*(?:[-*•·]|\d{1,3}[.)])?\s*\[\s*[a-z]-[0-9a-z]{6,13}\s*\]?\s*")
_LEAD = re.compile(r"^[\s>|*#•·]*(?:[-*•]\s+|\d{1,3}[.)]\s+)?[\s\"']*")
# What a brief adds behind a sentence (memory.rendering.note), whole or cut off.
_NOTE = re.compile(
    r"\s*\((?=(?:unread|in the past|seen in|\d+ sessions?|said by|confirmed|promised by)\b)[^()]*\)?\s*$"
    r"|\s*\([^()]{0,12}$"
)
_KEY = re.compile(r"\bcs_([0-9a-f]{8})_[0-9a-f]{8,}\b")
_WORD = re.compile(r"[^\W_]+")
# What every brief prints round its lines.
_HEADING = re.compile(r"[\s>|*]*(?:#{1,6}\s|countersigned by people[.,]|if a line is wrong)", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+")
# Words that a sentence of a memory hardly has.
LONG = 12


@dataclass(frozen=True)
class Asked:
    """`shown` stands in the field again (a whole key is cut to its public part); `ids` are (prefix, row number) in
    order; `sentences` are folded, without what a brief prints around them; `name` is "" where it cannot be one."""

    shown: str
    ids: tuple[tuple[str, int], ...]
    sentences: tuple[str, ...]
    name: str
    key_prefix: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.ids or self.sentences or self.name)


def asked(raw: str) -> Asked:
    """Any text is something to look for; what cannot be stored is left out."""
    text = raw[:MOST].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    key = _KEY.search(text)
    text = _KEY.sub(lambda found: f"cs_{found[1]}", text)
    shown = rendering.one_line(text)
    name = shown if len(shown) <= NAME_LENGTH else ""
    ids = _ids(folded(text))
    return Asked(shown, ids, _sentences(text), name, _key_prefix(name, key))


def folded(text: str) -> str:
    """One line with one kind of quote and dash, in small letters: what looks the same is the same."""
    return rendering.one_line(text.translate(_ALIKE)).lower()


def words_of(text: str) -> list[str]:
    """The words of a folded text, in order."""
    return _WORD.findall(text)


def _key_prefix(name: str, key: re.Match[str] | None) -> str:
    if key is not None:
        return f"cs_{key[1]}"
    return name if re.fullmatch(r"cs_[0-9a-f]{8}", name) else ""


def _ids(text: str) -> tuple[tuple[str, int], ...]:
    found: dict[tuple[str, int], None] = {}
    for prefix, letters in _ID.findall(text):
        pk = short_ids.decode(f"{prefix}-{letters}", prefix)
        if pk is not None:
            found[prefix, pk] = None
    if not found and _BARE_ID.fullmatch(text):
        # Somebody left the first letter out.
        found = {("f", pk): None for pk in [short_ids.decode(f"f-{text}")] if pk is not None}
    return tuple(found)[:MOST_IDS]


def _sentences(text: str) -> tuple[str, ...]:
    """What a brief's lines say, each for itself. A sentence wrapped over lines is one again; of a longer paste, its
    sentences come behind it."""
    one = folded("\n".join(line for line in text.split("\n") if not _HEADING.match(line))) or folded(text)
    pieces = [one]
    if _ITEM.search(one):
        pieces = _ITEM.split(one)
        # A heading before the first line, or the end of a line that was cut off: only where it says something.
        if len(words_of(pieces[0])) < 3:
            pieces = pieces[1:]
    found: dict[str, None] = {}
    for piece in pieces:
        said = bare(piece)
        if words_of(said) or said:
            found[said] = None
    for said in list(found):
        parts = [bare(part) for part in _END.split(said)] if len(words_of(said)) > LONG else []
        found |= {part: None for part in parts if len(words_of(part)) > 3}
    found.pop("", None)
    return tuple(found)[:MOST_SENTENCES]


def bare(piece: str) -> str:
    """A folded line without its bullet, its quotes and its note."""
    said = _LEAD.sub("", piece)
    said = _NOTE.sub("", said)
    return said.strip().strip('"').strip()
