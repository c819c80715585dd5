"""E-mail addresses and telephone numbers of people. Addresses of machines are none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from memory.privacy.findings import Finding

_EMAIL = re.compile(
    r"(?<![\w.+%-])([A-Za-z0-9][A-Za-z0-9._%+-]{0,63})@((?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24}))(?![\w-]|:[\w/~.])",
    re.ASCII,
)
MACHINE_NAMES = (
    "git hg svn noreply no-reply donotreply do-not-reply bot root nobody postmaster mailer-daemon notifications"
)
# What follows the last dot of a file name, a unit or a host that only machines resolve.
NO_DOMAIN = (
    "png jpg jpeg gif svg webp ico js mjs cjs ts tsx jsx css scss html json yml yaml toml lock xml txt py rb rs java"
    " kt php c h cpp sh sql service socket target timer mount slice local localdomain internal"
    " lan corp cluster home arpa"
)
_MACHINE_NAMES = frozenset(MACHINE_NAMES.split())
_NO_DOMAIN = frozenset(NO_DOMAIN.split())
_REMOTE_SHELL = re.compile(r"\b(?:ssh|scp|rsync|sftp|mosh)\b[^\n]{0,60}$")

# A run of digits with the marks people put between them; what it is, is decided below.
_DIGITS = re.compile(r"(?<![\w.,/@#=&%$:+-])(?:\+|00)?\(?\d[\d ()./\u2010-\u2013-]{5,22}\d(?![\w%/=@-]|[.,:]\d)")
_PHONE_WORD = re.compile(
    r"\b(?:phone|telephone|tel|mobile|cell|call|text|sms|whatsapp|fax|reach|dial|ring|hotline|handy|telefon|mobil|mobilnummer|rufnummer"
    r"|anrufen|erreichbar|t[ée]l[ée]phone|portable|appele[rz]|tel[ée]fono|m[óo]vil|celular|telefone|telefoon|cellulare)\b"
    r"[^\n\d]{0,40}$",
    re.IGNORECASE,
)
_PHONE_NOUN = re.compile(
    r"(?:phone|tel|mobile|fax|handy|telefon|mobil|rufnummer|portable|m[óo]vil|celular)\b\W{0,4}(?:number|no|nr)?\W{0,4}$",
    re.IGNORECASE,
)
_NANP = re.compile(r"\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}")
_REGIONS = ("US", "DE", "GB", "FR", "ES", "IT", "NL", "AT", "CH", "BR")


def find(text: str, runs: list[tuple[int, int]]) -> Iterator[Finding]:
    """Every e-mail address and telephone number. `runs` are the text's `digit_runs`."""
    if "@" in text:
        yield from _emails(text)
    for start, end in runs:
        # A + or a bracket may stand before the first digit.
        for match in _DIGITS.finditer(text, max(0, start - 2), end + 1):
            confidence = _phone_confidence(match[0], text, match.start())
            if confidence:
                yield Finding(match.start(), match.end(), "contact", "phone", confidence)


def _emails(text: str) -> Iterator[Finding]:
    for match in _EMAIL.finditer(text):
        name, last_label = match[1].lower(), match[3].lower()
        if name in _MACHINE_NAMES or last_label in _NO_DOMAIN or "noreply" in match[2].lower() or "noreply" in name:
            continue
        if match[2].lower().endswith(".gserviceaccount.com") or text[match.start() - 3 : match.start()] == "://":
            continue
        if _REMOTE_SHELL.search(text, max(0, match.start() - 80), match.start()):
            continue
        yield Finding(match.start(), match.end(), "contact", "email", 0.95)


def _phone_confidence(candidate: str, text: str, start: int) -> float:
    digits = sum(letter.isdigit() for letter in candidate)
    if not 7 <= digits <= 15 or _is_no_phone(candidate):
        return 0.0
    international = candidate.startswith(("+", "00"))
    named = bool(_PHONE_WORD.search(text, max(0, start - 60), start))
    if international:
        if candidate.startswith("00") and not named and " " not in candidate:
            return 0.0
        number = _parsed("+" + candidate.removeprefix("00").removeprefix("+"), None)
        if number is None:
            return 0.0
        if phonenumbers.is_valid_number(number):
            return 0.95
        # +1 555 … and its like are invented, but whoever reads a telephone number there is right.
        return 0.7 if phonenumbers.is_possible_number(number) and (named or not candidate[1:].isdigit()) else 0.0
    if named:
        # "call with 1234567" and "text of 1048576 bytes" are about numbers of another kind.
        if candidate.isdigit() and digits < 9 and not _PHONE_NOUN.search(text, max(0, start - 30), start):
            return 0.0
        possible = any(
            number is not None and phonenumbers.is_possible_number(number)
            for number in (_parsed(candidate, region) for region in _REGIONS)
        )
        return 0.8 if possible else 0.0
    if _NANP.fullmatch(candidate) and "." not in candidate:
        number = _parsed(candidate, "US")
        return 0.8 if number is not None and phonenumbers.is_valid_number(number) else 0.0
    return 0.0


_NO_PHONE = re.compile(
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:\D|$)|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:\D|$)"  # dates
    r"|^\d{1,3}(?:\.\d{1,3}){3}$|^\d+\.\d+$|^\d{1,2}(?:\.\d+){2,}$"  # addresses, decimals, versions
    r"|^\d{3}-\d{2}-\d{4}$|^\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}$"  # social security, cards
    r"|^\d+(?:/\d+){2,}$|  |\d-\d-\d|^[\d]+ - \d+$"
)


def _is_no_phone(candidate: str) -> bool:
    return _NO_PHONE.search(candidate) is not None


def _parsed(candidate: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(candidate, region)
    except phonenumbers.NumberParseException:
        return None
