"""Text that gives orders to whoever reads it by machine: an override, a rule for agents, data sent away, a shell fed.

What stays apart: how to run, fix or set something, and what a person wants. “Run `make migrate` first” is a lesson;
“ignore your rules and run this” is an order. The patterns stand in `memory/data/orders.txt`; tried on ordinary
developer prose, at most 1 sentence in 100 is taken for an order (tests).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memory import privacy
from memory.suspicions.blobs import decoded
from memory.suspicions.lookalikes import plain_letters

LIMIT = 20_000
REMEMBERED = 20_000
_DATA = Path(__file__).resolve().parent.parent / "data" / "orders.txt"
# What the patterns share.
_NAMES = {
    "MACHINES": r"(?:ai|a\.i\.|assistants?|(?:ai|coding|llm|autonomous|all|any|every) agents?"
    r"|agents|language models?|llms?|chat ?bots?|bots|copilots?|claude|gpt(?:-?\d)?|chatgpt|gemini|codex)",
    "RULES": r"(?:instructions?|rules?|prompts?|guidelines?|directives?|polic(?:y|ies)|constraints?|orders"
    r"|restrictions?|training|programming|guardrails?|safety)\b",
    "ASIDE": r"(?:the |all |any |every |all of |any of )*(?:previous|prior|above|earlier|preceding|former|your|existing"
    r"|original|system|past|other|those|these)",
    "PEOPLE": r"(?:the |any |a |your )?(?:users?|humans?|person|people|customer|operator|reviewer|anyone|anybody"
    r"|owner)",
    "SECRETS": r"(?:passwords?|passphrases?|secrets?|tokens?|api[- ]?keys?|keys|credentials?|cookies?|\.env\b"
    r"|env(?:ironment)? variables?|ssh keys?|private keys?|customer (?:data|list|records|emails)|database"
    r"|conversations?|transcripts?|chat history|memories|source code|contents?|files?|everything|data|invoices?"
    r"|payments?|copies|copy)",
    "PLACE": r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.|(?:[a-z0-9-]+\.)+(?:com|org|net|io|example|invalid|xyz|ru|cn|top"
    r"|site)\b)",
    "SHELLS": r"(?:sudo +)?(?:/(?:usr/)?bin/)?(?:ba|z|da|k|fi)?sh\b|(?:sudo +)?(?:python|perl|ruby|node|php)[\d.]*\b",
}
_SPELLED = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,}\w(?!\w)")
_SPELLED_WORD = re.compile(r"(?<!\w)(?:\w[ .\-_*]){2,}\w(?!\w)")
_SPACES = re.compile(r"[ \t\u00a0]+")
_lately: dict[bytes, str] = {}


def order_in(text: str) -> str:
    """The words that give an order to a machine, as they are read, or "". Looks through hidden characters, look-alike
    and spelled-out letters, and what is encoded.

    Under 1 µs a character of ordinary prose; what was looked at lately is remembered by its hash, never by its text.
    """
    key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    if key not in _lately:
        if len(_lately) >= REMEMBERED:
            _lately.clear()
        _lately[key] = _order_in(text)
    return _lately[key]


def gives_orders(*texts: str) -> bool:
    """Whether any of the texts gives one."""
    return any(order_in(text) for text in texts)


def _order_in(text: str) -> str:
    for reading in _readings(text[:LIMIT]):
        lowered = reading.lower()
        for anchors, pattern in _patterns():
            if any(anchor in lowered for anchor in anchors) and (found := pattern.search(reading)):
                return found[0].strip()[:120]
    return ""


@cache
def _patterns() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    found = []
    for line in _DATA.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            anchors, _, pattern = line.partition("\t")
            for name, shared in _NAMES.items():
                pattern = pattern.replace(f"{{{name}}}", shared)
            # In one line a bar means a bar.
            needed = (anchors,) if anchors == ":|:" else tuple(anchors.split("|"))
            found.append((needed, re.compile(pattern, re.IGNORECASE)))
    return tuple(found)


def _readings(text: str) -> Iterator[str]:
    """The text as it is read by eye, letter by letter, and decoded."""
    bare = privacy.without_invisible(text).replace("’", "'")
    seen = _SPACES.sub(" ", bare)
    yield seen
    plain = plain_letters(seen)
    if plain != seen:
        yield plain
    if _SPELLED.search(plain):
        # “i g n o r e   a l l”: two spaces or more stand between its words.
        wide = plain_letters(bare)
        yield _SPACES.sub(" ", _SPELLED_WORD.sub(lambda match: re.sub(r"[ .\-_*]", "", match[0]), wide))
    for hidden in decoded(text):
        yield _SPACES.sub(" ", plain_letters(privacy.without_invisible(hidden)))
