"""Card numbers, IBANs and US social security numbers, each held to its check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import iban, luhn
from stdnum.us import ssn

from memory.privacy.findings import Finding

_RUN = re.compile(r"[0-9](?:[ ()./\u2010-\u2013-]{0,3}[0-9]){6,}")
# Grouped as on the card, or not at all; first digits as issuers have them.
_CARD = re.compile(
    r"(?<![\w.,/+=-])(?:"
    r"(?:4\d|5[1-5]|2[2-7]|6[0245])\d{2}([ -]?)\d{4}\1\d{4}\1\d{1,7}"
    r"|3[47]\d{2}([ -]?)\d{6}\2\d{5}"
    r"|3[0689]\d{2}([ -]?)\d{6}\3\d{4}"
    r"|35\d{2}([ -]?)\d{4}\4\d{4}\4\d{4}"
    r")(?![\w/=+-]|[.,]\d)",
    re.ASCII,
)
_CARD_LENGTHS = frozenset({13, 14, 15, 16, 19})
_IBAN_START = re.compile(r"[A-Z]{2}\d\d", re.ASCII)
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])", re.ASCII)
_NAMED_IBAN = re.compile(rf"(?<![A-Za-z0-9]){_IBAN.pattern}", re.ASCII | re.IGNORECASE)
_SSN = re.compile(r"(?<![\w./-])\d{3}-\d{2}-\d{4}(?![\w-]|\.\d)", re.ASCII)
_BARE_SSN = re.compile(
    r"\b(?:ssn|social security(?: (?:number|no\.?))?)\b[^\d\n]{0,20}(\d{3} ?\d{2} ?\d{4})(?!\d)", re.IGNORECASE
)


def find(text: str, lowered: str, runs: list[tuple[int, int]]) -> Iterator[Finding]:
    """Every number that passes its own check; one that fails it is no finding. `runs` are `digit_runs(text)`."""
    for start, end in runs:
        for match in _CARD.finditer(text, start, end + 1):
            digits = re.sub(r"\D", "", match[0])
            if len(digits) in _CARD_LENGTHS and len(set(digits)) > 1 and luhn.is_valid(digits):
                yield Finding(match.start(), match.end(), "payment", "card", 0.95)
        for match in _SSN.finditer(text, start, end + 1):
            if ssn.is_valid(match[0]):
                yield Finding(match.start(), match.end(), "payment", "us-ssn", 0.9)
    if "ssn" in lowered or "social security" in lowered:
        for match in _BARE_SSN.finditer(text):
            if ssn.is_valid(match[1].replace(" ", "")):
                yield Finding(match.start(1), match.end(1), "payment", "us-ssn", 0.9)
    for candidate in _iban_candidates(text, runs, "iban" in lowered):
        length = _iban_length(candidate[0])
        if length:
            yield Finding(candidate.start(), candidate.start() + length, "payment", "iban", 0.99)


def digit_runs(text: str) -> list[tuple[int, int]]:
    """Where seven digits and more stand together, with the marks people put between them."""
    return [run.span() for run in _RUN.finditer(text)]


def _iban_candidates(text: str, runs: list[tuple[int, int]], named: bool) -> Iterator[re.Match[str]]:
    if named:
        yield from _NAMED_IBAN.finditer(text)
        return
    for run_start, _ in runs:
        # Every country's account number holds seven digits and more, with at most ten letters and digits before them.
        for start in _IBAN_START.finditer(text, max(0, run_start - 16), run_start + 3):
            if start.start() == 0 or not text[start.start() - 1].isalnum():
                candidate = _IBAN.match(text, start.start())
                if candidate:
                    yield candidate


def _iban_length(candidate: str) -> int:
    """How much of the candidate is the IBAN: capital words right behind it look like more of it. 0 for none."""
    for end in range(len(candidate), 14, -1):
        is_group = candidate[end - 1] not in " -" and (end == len(candidate) or candidate[end] in " -")
        # The country's own check digits are left out: bank numbers change, the outer check holds.
        if is_group and iban.is_valid(candidate[:end], check_country=False):
            return end
    return 0
