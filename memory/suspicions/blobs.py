"""Text that is written in another alphabet for machines: base64, hex, percent signs, entities, escapes, tag characters.

Only what decodes to words is one: a hash, a path or a key that is no text stays what it is.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MOST = 20
LONG = 20
_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}")


@dataclass(frozen=True, slots=True)
class Blob:
    """`text[start:end]` is written in `code` (`base64`, `hex`, …); a model may read it as `reads`."""

    start: int
    end: int
    code: str
    reads: str


def blobs_in(text: str) -> tuple[Blob, ...]:
    """The encoded parts of a text that decode to words, in order, none inside another; at most MOST."""
    found: list[Blob] = []
    is_long = any(len(word) >= LONG for word in text.split())
    for code, sign, pattern, decode in _CODES:
        # Ordinary text is left at once: 0.1 ms for 16,000 characters.
        if (text.count(sign) < 4) if sign else not is_long and code in ("hex", "base64"):
            continue
        for match in pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            reads = decode(match[0])
            if reads and (code == "tag characters" or _is_words(reads)):
                found.append(Blob(match.start(), match.end(), code, reads))
            if len(found) >= MOST:
                break
    return tuple(sorted(found, key=lambda one: one.start))


def decoded(text: str) -> Iterator[str]:
    """What the encoded parts say, and what those say in turn: twice encoded is found, three times is not."""
    for blob in blobs_in(text):
        yield blob.reads
        for inner in blobs_in(blob.reads):
            yield inner.reads


def _is_words(reads: str) -> bool:
    """Whether it looks like something written: letters and spaces, few signs, nothing unprintable."""
    if len(reads) < 6 or "\ufffd" in reads:
        return False
    good = sum(letter.isprintable() or letter in "\n\t" for letter in reads)
    if good < len(reads):
        return False
    wordly = sum(letter.isalnum() or letter in " \n.,:;/-_'\"" for letter in reads)
    has_gap = any(mark in reads for mark in " \n:/=<{") or not reads.isascii()
    return wordly >= 0.7 * len(reads) and has_gap and sum(letter.isalpha() for letter in reads) >= len(reads) / 3


def _tags(run: str) -> str:
    return "".join(chr(ord(letter) - 0xE0000) for letter in run)


def _base64(run: str) -> str:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    if bare.isdigit() or bare.islower() or len(bare) % 4 == 1:
        return ""
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _hex(run: str) -> str:
    bare = re.sub(r"\\x|0x|[\s,:]", "", run)
    try:
        return bytes.fromhex(bare).decode() if len(bare) % 2 == 0 else ""
    except (ValueError, UnicodeDecodeError):
        return ""


def _percent(run: str) -> str:
    return urllib.parse.unquote(run, errors="replace")


def _escapes(run: str) -> str:
    try:
        return run.encode("ascii").decode("unicode_escape").encode("utf-16", "surrogatepass").decode("utf-16")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return ""


_CODES: tuple[tuple[str, str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("tag characters", "", _TAGS, _tags),
    (
        "entities",
        "&",
        re.compile(r"(?:&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|lt|gt|amp|quot|apos);[\w ]{0,12}){4,}"),
        html.unescape,
    ),
    ("escapes", "\\", re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){4,}"), _escapes),
    ("percent", "%", re.compile(r"(?:[\w.~-]{0,12}%[0-9a-fA-F]{2}){6,}[\w.~-]{0,12}", re.ASCII), _percent),
    ("spaced hex", " ", re.compile(r"\b(?:[0-9a-fA-F]{2} ){11,}[0-9a-fA-F]{2}\b", re.ASCII), _hex),
    ("hex", "", re.compile(r"(?<![\w/+])(?:0x)?(?:[0-9a-fA-F]{2}[:,]?){12,}(?![\w/+=])", re.ASCII), _hex),
    ("base64", "", re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w/+=])", re.ASCII), _base64),
)
