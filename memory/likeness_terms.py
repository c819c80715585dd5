"""Reads a statement into what it speaks of (plain values): words by their meaning, numbers with units, dates, names,
identifiers, and what is denied. `memory/likeness.py` compares two such readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from memory.languages import language_of
from memory.likeness_figures import FIGURES, WEEKDAYS, figure, month_word, spelled
from memory.likeness_vocabulary import STEMMERS, Vocabulary, stem, unspaced, vocabulary

# A statement is one sentence of at most 240 characters; of a longer text this much is read, and that is remembered.
MOST_CHARS = 800
WEAK = 0.3  # what a word weighs that so many statements share
LETTER = 0.5  # what one character of a language without spaces weighs

# Words that put two events in order: what follows them happens later (before), or earlier (after).
_BEFORE = frozenset(["before", "antes", "avant", "vor", "bevor", "前"])
_AFTER = frozenset(["after", "once", "después", "après", "nachdem", "后", "後"])
# Languages that deny twice what is denied once: "no … nunca", "ne … pas".
_CONCORD = frozenset(["es", "fr"])
_INSTEAD = frozenset(["instead", "statt", "anstatt"])
# Prepositions, which say in which part something stands.
_VIAS = {
    word: name
    for name, words in {
        "by": "by por von par durch",
        "from": "from desde aus",
        "to": "to into onto hacia zu zum zur vers",
        "until": "until till hasta bis",
        "since": "since seit depuis",
        "over": "over above",
        "under": "under below",
        "behind": "behind hinter",
        "against": "against contra gegen contre",
        "of": "of",
        "for": "for",
        "as": "as",
        "in": "in",
        "on": "on",
        "at": "at",
        "with": "with mit con avec",
        "between": "between among within through across around along near zwischen entre",
    }.items()
    for word in words.split()
}
# A statement that begins with one of these has put forward what another has at its end.
_FRONTS = frozenset(
    word
    for words in (
        "in on at for from during every each before after when whenever if once to with by until per as",
        "vor nach bei im am für jede jeden jedes en para antes después dans pour avant après cuando wenn",
    )
    for word in words.split()
)
# A statement may begin with its verb; what one of these follows is a name.
_BEHIND_NAMES = frozenset(
    word
    for words in (
        "is was has can may must will should es está tiene vive trabaja dirige lleva",
        "ist hat arbeitet wohnt leitet spricht est a travaille dirige habite",
    )
    for word in words.split()
)
# In German every noun is written large: a name is what follows one of these without an article.
_BEFORE_NAMES = frozenset(
    ["nach", "in", "aus", "bei", "an", "von", "frau", "herr", "herrn", "für", "mit", "durch", "zu"]
)

_TOKEN = re.compile(
    rf"""
    "(?P<quoted>[^"\s]+\s[^"]+)"                             # another's words, an error: one thing
  | (?P<url>https?://[^\s<>"')\]]+)
  | (?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
  | {FIGURES}
  | (?P<flag>(?<![\w-])--?[A-Za-z][\w-]*(?:=\S+)?)
  | (?P<code>(?<![\w.])(?:
        [~.]{{0,2}}/?[\w@$+-]{{1,200}}(?:[/\\][\w@$.+*-]*)+          # a path
      | /[\w@$.+*-]+                                         # a rooted one of one part
      | [A-Za-z_]\w*=[^\s,;]+                                # a setting with its value
      | \.?[^\W\d][\w-]*(?:\.[\w-]+)+(?:\(\))?               # a file, a host, a dotted name
      | (?<=\s)[.\#@][^\W\d][\w.-]*                          # a hidden file, a channel, a handle
      | [^\W\d_]+_\w+ | _\w+ | \w+::\w+
      | [^\W\d_]+-?\d[\w-]*                                  # a name with a figure in it
      | [^\W_]+-\w+-[\w-]+                                   # three parts: a bucket, a host
      | (?-i:[a-z]+[A-Z]\w*)
    ))
  | (?P<figure>(?<![\w.])\d[\d.,]*(?:st|nd|rd|th)?(?![^\W\d_]))
  | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)*(?:-[^\W\d_]+)?)
  | (?P<pause>[,;:](?=\s|$))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODES = frozenset(["quoted", "url", "address", "flag", "code"])
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MARKS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": " ", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


@dataclass(slots=True)
class Term:
    """One thing a statement speaks of. `kind`: word, name, figure (numbers, quantities, dates) or code (identifiers).

    `value` is what it means, `surface` how it stands there (case-folded), `via` the preposition right before it,
    `owns` whether it stands in the genitive ("Ana's"), `at` which word of the statement it is.
    """

    kind: str
    value: str
    surface: str
    weight: float = 1.0
    may_be_name: bool = False
    via: str = ""
    owns: bool = False
    at: int = 0

    @property
    def is_strong(self) -> bool:
        return self.weight >= LETTER

    @property
    def is_name(self) -> bool:
        return self.kind == "name" or self.may_be_name


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement taken apart.

    `denials` counts what denies, `denied` is what stands right behind a denial, `instead` what something else takes
    the place of (no denial by itself). `marks` narrow it down (only, may, all), `parties` are whom it names as
    customer, team or project. `first` and `then` are the two events it puts in order, both empty where it orders none.
    `leads` are the parties that stand before all else, `frame` is every word as it stands.
    """

    terms: tuple[Term, ...]
    denials: int
    denied: frozenset[str]
    instead: frozenset[str]
    marks: frozenset[str]
    parties: frozenset[str]
    first: frozenset[str]
    then: frozenset[str]
    is_fronted: bool
    leads: frozenset[str]
    frame: tuple[str, ...]


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    is_first: bool = False
    owns: bool = False


@dataclass(slots=True)
class _Reader:
    """What was read of a statement so far."""

    language: str
    known: Vocabulary
    terms: list[Term] = field(default_factory=list)
    denials: int = 0
    denied: set[str] = field(default_factory=set)
    instead: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    parties: set[str] = field(default_factory=set)
    leads: set[str] = field(default_factory=set)
    turns: list[tuple[bool, int]] = field(default_factory=list)
    pauses: list[int] = field(default_factory=list)
    # A denial that has not met its word yet, and whether it says what something else takes the place of.
    waits: bool = False
    replaces: bool = False
    via: str = ""

    def take(self, token: _Token, at: int, before: str, behind: str) -> None:
        folded, is_word, known = token.text.casefold(), token.kind == "word", self.known
        if token.kind == "pause":
            self.pauses.append(len(self.terms))
        elif is_word and folded in _INSTEAD:
            self.waits = self.replaces = True
        elif token.kind == "deny" or (is_word and folded in known.denials):
            # ", not npm" says what something else takes the place of, as "instead of npm" does.
            self.waits, self.replaces = True, before == "pause"
            self.denials += not self.replaces
        elif is_word and folded in known.marks and month_word(token.text, token.is_first) is None:
            self.marks.add(known.marks[folded])
        elif is_word and folded in known.parties:
            self.parties.add(known.parties[folded])
            self.leads |= set() if self.terms else {known.parties[folded]}
        elif folded in _BEFORE or folded in _AFTER:
            self.turns.append((folded in _BEFORE, len(self.terms)))
        elif token.kind != "filler":
            if is_word and folded in _VIAS:
                self.via = _VIAS[folded]
            elif self.via == "to" and (folded in ("be", "have") or folded in known.verbs):
                self.via = ""  # "to be answered", "to call": no direction
            self._keep(token, at, _may_be_name(token, self.language, before, behind))

    def _keep(self, token: _Token, at: int, may_be_name: bool) -> None:
        term, denies = _term(token, self.language, self.known, may_be_name)
        if denies:
            self.denials, self.waits = self.denials + 1, True
        if term is None:
            return
        if self.waits:
            (self.instead if self.replaces else self.denied).add(term.value)
            self.waits = self.replaces = False
        term.via, term.at = self.via, at
        self.terms.append(term)
        self.via = ""

    def ordered(self) -> tuple[frozenset[str], frozenset[str]]:
        """The two events of "X before Y", "before Y, X", "Y after X": what comes first, and what then."""
        if len(self.turns) != 1:
            return frozenset(), frozenset()
        says_before, at = self.turns[0]
        last = len(self.terms)
        end = next((pause for pause in self.pauses if pause > at), last) if at == 0 else last
        behind = frozenset(term.value for term in self.terms[at:end])
        beside = frozenset(term.value for term in (*self.terms[:at], *self.terms[end:]))
        return (beside, behind) if says_before else (behind, beside)


def read(text: str, language: str) -> Reading:
    """What the first 800 characters of `text` speak of, in a language as `language_of` names it. About 0.1 ms."""
    known = vocabulary(language)
    tokens = list(_tokens(text, language, known))
    reader = _Reader(language, known)
    joined = list(_joined(tokens, known))
    # Pauses are no words: of each token its place among the words.
    places = list(accumulate((token.kind != "pause" for token in tokens), initial=0))
    before = ""
    for place, (at, token) in enumerate(joined):
        reader.take(token, places[at], before, joined[place + 1][1].text if place + 1 < len(joined) else "")
        before = "pause" if token.kind == "pause" else token.text.casefold()
    first, then = reader.ordered()
    return Reading(
        terms=tuple(reader.terms),
        denials=min(reader.denials, 1) if language in _CONCORD else reader.denials,
        denied=frozenset(reader.denied),
        instead=frozenset(reader.instead),
        marks=frozenset(reader.marks),
        parties=frozenset(reader.parties),
        first=first,
        then=then,
        is_fronted=bool(tokens) and tokens[0].text.casefold() in _FRONTS,
        leads=frozenset(reader.leads),
        frame=tuple(token.text.casefold() for token in tokens if token.kind != "pause"),
    )


def language_of_both(first: str, second: str) -> str:
    """Two statements about one subject are read in one language: a short one alone says too little."""
    return language_of(f"{first[:MOST_CHARS]} {second[:MOST_CHARS]}") or "en"


def _tokens(text: str, language: str, known: Vocabulary) -> Iterator[_Token]:
    plain = unicodedata.normalize("NFKC", text[:MOST_CHARS]).translate(_MARKS)
    plain = _UNSPACED.sub(lambda run: f" {run.group()} ", spelled(plain))
    is_first = True
    for found in _TOKEN.finditer(plain):
        kind, written = found.lastgroup or "", found.group()
        if kind == "word" and _UNSPACED.fullmatch(written):
            yield from _characters(written, language)
        elif kind == "word":
            for part in _parts(written, known):
                part.is_first = is_first
                yield part
                is_first = False
        elif kind in _CODES or kind == "pause":
            # The point that ends the sentence is no part of it, the one that begins `.env` is.
            yield _Token(kind, written.strip('"').rstrip(".:"))
        else:
            yield _Token("figure", figure(found, language))
        is_first = is_first and kind == "pause"


def _parts(word: str, known: Vocabulary) -> Iterator[_Token]:
    """A written word as the words in it: "don't" is a denial, "Ana's" owns, "n'accepte" and "step-free" are two."""
    folded = word.casefold()
    if folded.endswith("n't") or folded in ("cannot", "cant", "dont"):
        yield _Token("deny", word)
    elif folded.endswith("'s"):
        yield _Token("word", word[:-2], owns=True)
    elif "'" in word or ("-" in word and folded not in known.meanings):
        for part in re.split("['-]", word):
            yield _Token("word", part)
    else:
        yield _Token("word", word)


def _characters(run: str, language: str) -> Iterator[_Token]:
    """A run without spaces: the words of the vocabulary that stand in it, longest first, else its characters."""
    table = unspaced("ja" if language == "ja" else "zh")
    at = 0
    while at < len(run):
        sizes = range(min(6, len(run) - at), 1, -1)
        size = next((size for size in sizes if run[at : at + size] in table or run[at : at + size] in WEEKDAYS), 1)
        piece = run[at : at + size]
        yield _Token("word" if piece in WEEKDAYS else table.get(piece, "letter"), piece)
        at += size


def _joined(tokens: Sequence[_Token], known: Vocabulary) -> Iterator[tuple[int, _Token]]:
    """The tokens with their places, a phrase of the vocabulary as what it means: "no longer" is a denial."""
    folded = [token.text.casefold() for token in tokens]
    at = 0
    while at < len(tokens):
        for size in range(min(known.longest_phrase, len(tokens) - at), 1, -1):
            piece = tokens[at : at + size]
            meant = known.phrases.get(tuple(folded[at : at + size]))
            if meant is not None and all(token.kind in ("word", "deny") for token in piece):
                yield from ((at, _Token("deny" if word == "not" else "word", word)) for word in meant)
                at += size
                break
        else:
            yield at, tokens[at]
            at += 1


def _term(token: _Token, language: str, known: Vocabulary, may_be_name: bool) -> tuple[Term | None, bool]:
    """The term a token is, or None for one that says nothing by itself; and whether it is a word of denial."""
    text, folded = token.text, token.text.casefold()
    if token.kind in _CODES:
        return Term("code", _plain_code(folded), folded), False
    if token.kind == "figure":
        return Term("figure", text, text), False
    if token.kind == "letter":
        return Term("word", text, text, LETTER, may_be_name=True), False
    if token.kind == "whole":
        return Term("word", text, text), False
    if (day := WEEKDAYS.get(folded)) is not None:
        return Term("figure", f"weekday {day}", folded), False
    if (month := month_word(text, token.is_first)) is not None:
        return Term("figure", f"month {month}", folded), False
    root = stem(folded, language)
    opposed = known.opposites.get(folded) or known.opposites.get(root)
    if opposed is None and (folded in known.fillers or len(folded) < 2):
        return None, False
    value = opposed or known.meanings.get(folded) or known.meanings.get(root) or root
    if value in known.fillers:
        return None, opposed is not None
    capital, is_known = text[:1].isupper(), folded in known.meanings
    kind = "name" if capital and not is_known and not token.is_first and language != "de" else "word"
    # "PDFs" are PDF.
    surface = folded[:-1] if len(text) > 2 and text[:-1].isupper() and text.endswith("s") else folded
    weight = WEAK if value in known.weak or folded in known.weak else 1.0
    is_maybe = may_be_name and not is_known and folded not in known.verbs
    return Term(kind, value, surface, weight, is_maybe, owns=token.owns), opposed is not None


def _may_be_name(token: _Token, language: str, before: str, behind: str) -> bool:
    """Whether a capital may mean a name where it may as well mean something else: in front, and in German anywhere."""
    if token.kind != "word" or not token.text[:1].isupper():
        return False
    if not token.is_first:
        return language == "de" and before in _BEFORE_NAMES
    # "Ana owns", "Ana's", "Ana Lima"; not "Late arrivals".
    folded = behind.casefold()
    acts = language not in STEMMERS or language == "en"
    acts = acts and len(folded) > 2 and folded.endswith(("s", "ed")) and not folded.endswith("ss")
    return token.owns or behind[:1].isupper() or folded in _BEHIND_NAMES or acts


def _plain_code(folded: str) -> str:
    """An identifier as it is compared: `./a/b/` and `a/b` are one path."""
    return folded.rstrip("/.").removeprefix("./")
