"""Short ids that agents and people read: `f-2k81hd` for a fact, one to one with its bigint.

The number goes through a keyed Feistel network (a permutation, so no two numbers can meet) and is written in 32 letters
without i, l, o and u. Neighbouring numbers look unrelated, so nobody can count a project's facts. This hides order; it
is no permission: whoever holds an id must still be allowed to see the row.

Prefixes in use: f fact, s session, b brief, o observation, c subject. Each has its own permutation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ROUNDS = 10  # as many as NIST's FF1 uses for small domains

# (characters, bits of the permutation, first number, last number): the smallest class that holds the number.
CLASSES = (
    (6, 30, 1, 2**30 - 1),
    (8, 40, 2**30, 2**40 - 1),
    (13, 64, 2**40, 2**63 - 1),
)
_SHAPE = re.compile(rf"([a-z])-([{ALPHABET}]{{6,13}})", re.ASCII)
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}


def encode(pk: int, prefix: str = "f", key: bytes | None = None) -> str:
    """The short id of row `pk` (1 to 2^63 - 1). `key` defaults to the installation's SHORT_ID_KEY.

    Raises ValueError for a number that no row can have and for a prefix that is not one lower-case letter.
    """
    return _encoded(pk, prefix, _key(key))


def decode(text: str, prefix: str = "f", key: bytes | None = None) -> int | None:
    """The row number behind a short id, or None for anything `encode` would not have written.

    That includes capitals, spaces, another prefix, another length and a number outside its class, so each row has
    exactly one id and a malformed one can be answered with 404 without a query.
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None or shape[1] != prefix:
        return None
    letters = shape[2]
    for length, bits, first, last in CLASSES:
        if len(letters) == length:
            scrambled = _read(letters)
            if scrambled >= 1 << bits:
                return None
            pk = _restore(scrambled, bits, _prefix_key(_key(key), prefix))
            return pk if first <= pk <= last else None
    return None


@lru_cache(maxsize=32_768)  # 20 µs each, and a brief writes dozens of the same few
def _encoded(pk: int, prefix: str, key: bytes) -> str:
    for length, bits, first, last in CLASSES:
        if first <= pk <= last:
            scrambled = _permute(pk, bits, _prefix_key(key, prefix))
            return f"{prefix}-{_write(scrambled, length)}"
    raise ValueError("A row number lies between 1 and 2^63 - 1.")


def _key(key: bytes | None) -> bytes:
    if key is None:
        # Read late: this module must import without configured settings.
        from django.conf import settings

        configured = settings.SHORT_ID_KEY
        key = configured.encode() if isinstance(configured, str) else bytes(configured)
    if len(key) < 16:
        raise ValueError("SHORT_ID_KEY needs at least 16 bytes.")
    return key


@lru_cache(maxsize=64)
def _prefix_key(key: bytes, prefix: str) -> bytes:
    if len(prefix) != 1 or not "a" <= prefix <= "z":
        raise ValueError("A short id's prefix is one lower-case letter.")
    return blake2b(prefix.encode() + key, digest_size=32, person=b"short-id").digest()


def _round(half: int, number: int, bits: int, key: bytes) -> int:
    message = bytes((number, bits)) + half.to_bytes(4, "big")
    return int.from_bytes(blake2b(message, digest_size=4, key=key).digest(), "big") & ((1 << bits // 2) - 1)


def _permute(value: int, bits: int, key: bytes) -> int:
    half = bits // 2
    left, right = value >> half, value & ((1 << half) - 1)
    for number in range(ROUNDS):
        left, right = right, left ^ _round(right, number, bits, key)
    return left << half | right


def _restore(value: int, bits: int, key: bytes) -> int:
    half = bits // 2
    left, right = value >> half, value & ((1 << half) - 1)
    for number in reversed(range(ROUNDS)):
        left, right = right ^ _round(left, number, bits, key), left
    return left << half | right


def _write(value: int, length: int) -> str:
    return "".join(ALPHABET[value >> 5 * place & 31] for place in reversed(range(length)))


def _read(letters: str) -> int:
    value = 0
    for letter in letters:
        value = value << 5 | _VALUES[letter]
    return value
