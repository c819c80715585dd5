"""Letters of one script that stand in a word of another because they look the same: “pаypal” with a Cyrillic а."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Letters that are drawn like a Latin one (the small part of Unicode's confusables that attackers and typos use).
_CYRILLIC = dict(
    zip(
        "аеорсухіѕјһԁԛԝѵӏгАВЕКМНОРСТУХІЅЈԌԚԜЅӀѴ",
        "aeopcyxisjhdqwvlrABEKMHOPCTYXISJGQWSIV",
        strict=True,
    )
)
_GREEK = dict(zip("οανρυικτγΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ", "oavpuiktyABEZHIKMNOPTYXcj", strict=True))
_ARMENIAN = dict(zip("օսոհքցգյԼՕՍ", "ounhqgqjLOU", strict=True))
_CHEROKEE = dict(zip("ᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔᏃ", "ABCEHJKLMPRSTVWZ", strict=True))
LATIN_FOR = {**_CYRILLIC, **_GREEK, **_ARMENIAN, **_CHEROKEE}
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
_WORD = re.compile(r"[^\W\d_]+(?:[\d_.]+[^\W\d_]+)*")
# PDFы, SMSе: a Russian ending behind a Latin abbreviation.
_INFLECTED = re.compile(r"[A-Z]{2,}[\u0430-\u044f]{1,3}")
_FULL_WIDTH = re.compile(r"[\uff01-\uff5e]|[\U0001d400-\U0001d7ff]")


@dataclass(frozen=True, slots=True)
class Lookalike:
    """`text[start:end]` is a word in which letters of `script` stand among those of another.

    `letters` are the strangers, once each; `reads` is the word as it looks.
    """

    start: int
    end: int
    word: str
    letters: str
    script: str
    reads: str


def lookalikes_in(text: str) -> tuple[Lookalike, ...]:
    """Every word that mixes scripts by letters that look alike. About 1 µs for a text in ASCII."""
    if text.isascii():
        return ()
    found = []
    words = list(_WORD.finditer(text))
    has_real_words = any(_is_really_foreign(word[0]) for word in words)
    for match in words:
        strangers = _strangers(match[0], has_real_words)
        if strangers:
            script = _script(strangers[0]).title()
            found.append(Lookalike(match.start(), match.end(), match[0], strangers, script, plain_letters(match[0])))
    return tuple(found)


def plain_letters(text: str) -> str:
    """The text as it looks: every look-alike letter, full width and mathematical letter as the Latin one."""
    if text.isascii():
        return text
    wide = _FULL_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return "".join(LATIN_FOR.get(letter, letter) for letter in wide)


def _strangers(word: str, has_real_words: bool) -> str:
    if word.isascii() or _INFLECTED.fullmatch(word):
        return ""
    by_script: dict[str, list[str]] = {}
    for letter in word:
        if letter.isalpha():
            by_script.setdefault(_script(letter), []).append(letter)
    if "" in by_script or not by_script:
        return ""
    if len(by_script) == 1:
        # A word of nothing but look-alikes, in a text that is otherwise Latin.
        (script, letters) = next(iter(by_script.items()))
        alone = script != "LATIN" and not has_real_words and len(letters) > 2 and _all_look_latin(letters)
        return "".join(dict.fromkeys(letters)) if alone else ""
    fewest = min(by_script.values(), key=len)
    others = [letter for letters in by_script.values() if letters is not fewest for letter in letters]
    if _all_look_latin(fewest) and any(letter.isascii() for letter in others):
        return "".join(dict.fromkeys(fewest))
    # A Latin letter in a Cyrillic word: Привeт.
    as_latin = set(LATIN_FOR.values())
    if all(letter in as_latin for letter in fewest) and any(letter not in LATIN_FOR for letter in others):
        return "".join(dict.fromkeys(fewest))
    if _all_look_latin(others) and all(letter.isascii() for letter in fewest):
        return "".join(dict.fromkeys(others))
    return ""


def _is_really_foreign(word: str) -> bool:
    """Whether it is a word of another script, not one made of look-alikes."""
    letters = [letter for letter in word if letter.isalpha()]
    is_one = len({_script(letter) for letter in letters}) == 1
    return is_one and _script(letters[0]) not in ("LATIN", "") and not _all_look_latin(letters)


def _all_look_latin(letters: list[str]) -> bool:
    return all(letter in LATIN_FOR for letter in letters)


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in _SCRIPTS if name.startswith(script)), "")
