"""Do two statements about one subject say the same, nearly the same, or things that cannot both hold? Plain values.

Vectors do not tell: measured with the local model, a true duplicate had a cosine of 0.54, two different facts 0.60, a
denial of the same sentence 0.95, one digit apart 0.99. So the structure decides (memory/likeness_terms.py): numbers,
dates, names, identifiers and denials keep two apart whatever the cosine says, and so does who does what to whom. The
cosine is one signal where the words leave it open. How well that works: docs/reconciliation.md, `benchmarks.pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.likeness_order import common_run, is_exchange, is_when, runs_backwards, stretches
from memory.likeness_terms import LETTER, MOST_CHARS, Reading, Term, language_of_both, read
from memory.likeness_vocabulary import exclusive, vocabulary

SAME, SAME_THING, CONFLICTS, DIFFERENT = "same", "same_thing", "conflicts", "different"

# How much of what the two say has to be shared, by weight. Chosen on tests/cases/pairs.jsonl.
NEAR = 0.6
# Where the words leave it open, the cosine of the whole has to be high: the higher, the less they share.
CLOSE = ((0.4, 0.75), (0.3, 0.85))
# One denies, the other says it with another word ("does not work", "is broken"): shown where they are as close as this.
REWORDED_COSINE = 0.8
# One that says all that the other says, and more: so much they must share, in words of full weight.
ENOUGH = 2.0
# A different figure, name or denial contradicts only in a statement about the same thing.
PREDICATE, PREDICATE_COSINE = 0.5, 0.6
# Two sentences that share their frame word by word and differ in one place are two facts of one pattern, not one fact
# in other words: who says the same again hardly keeps the frame.
FRAME = 0.6
SOFT = 0.7  # what a match by form counts that is none by meaning: complain, complaint

_UNDOING = frozenset(["un", "in", "im", "ir", "non", "dis", "des", "dés", "miss"])
_OPPOSITE_VIAS = [
    frozenset(pair) for pair in (("from", "to"), ("until", "from"), ("until", "since"), ("over", "under"))
]
_OPPOSITE_MARKS = [
    frozenset(pair)
    for pair in (("may", "must"), ("some", "all"), ("some", "most"), ("all", "most"), ("customer", "team"))
]
# Little words that turn round what stands beside them: opted in and opted out.
_OPPOSITE_PARTICLES = [
    frozenset(pair) for pair in (("in", "out"), ("on", "off"), ("up", "down"), ("inside", "outside"))
]
# Marks that come and go with the wording: an order and a "must" are one.
_EASY = frozenset(["must", "all"])
# Prepositions that change what is said even where every other word stays.
_TELLING = frozenset(["by", "from", "to", "until", "since", "over", "under", "behind", "against"])
_MEANS = frozenset(
    ["email", "phone", "sms", "post", "fax", "chat", "transfer", "express", "default", "manually", "card"]
)
# "Ana and Ben" are "Ben and Ana".
_JOINS = frozenset(["and", "or", "und", "oder", "y", "o", "et", "ou"])

Cosine = Callable[[], float | None]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How two statements stand to each other. `score` 0..1 is the share of what they say that both say.

    `why` names what decided: words, figures, names, codes, denial, opposites, order, parties. `adds` is whether the
    second says more than the first, `has_specifics` whether one of them alone names a figure, a name or an identifier.
    """

    verdict: str
    score: float
    why: str
    adds: bool = False
    has_specifics: bool = False


def compare(first: str, second: str, cosine: Cosine | None = None) -> Likeness:
    """How `second` stands to `first`, both about one subject: same, same_thing, conflicts or different.

    `cosine` gives that of the two as a whole, or None; it is asked only where the words leave it open. About 0.3 ms
    without it, however long the texts. Symmetric but for `adds`.
    """
    both = _Both(first, second)
    verdict, why = _judged(both, cosine)
    if verdict == SAME and max(len(first), len(second)) > MOST_CHARS and first != second:
        verdict = SAME_THING
    return Likeness(
        verdict,
        round(both.score, 3),
        why,
        adds=any(term.is_strong for term in both.right),
        has_specifics=any(term.kind != "word" or term.may_be_name for term in (*both.left, *both.right)),
    )


def _judged(both: _Both, cosine: Cosine | None) -> tuple[str, str]:
    if not both.pairs:
        return DIFFERENT, "words"
    if why := both.difference():
        if both.is_about_one_thing(why):
            return (CONFLICTS if _is_close(both, cosine) else DIFFERENT), why
        return (SAME_THING if why == "denial" and both.is_reworded(cosine) else DIFFERENT), why
    if both.is_word_for_word():
        return SAME, "words"
    return (SAME_THING if both.is_near(cosine) else DIFFERENT), "words"


def _is_close(both: _Both, cosine: Cosine | None) -> bool:
    value = None if cosine is None else cosine()
    return value is None or value >= PREDICATE_COSINE or both.frame_share >= FRAME


class _Both:
    """Two readings laid beside each other: which terms found their like, and which are left over."""

    def __init__(self, first: str, second: str) -> None:
        self.language = language_of_both(first, second)
        self.one, self.two = read(first, self.language), read(second, self.language)
        self.pairs, left_at, right_at = _matched(self.one.terms, self.two.terms)
        self.left = [self.one.terms[at] for at in left_at]
        self.right = [self.two.terms[at] for at in right_at]
        self.shared = sum(min(self.one.terms[a].weight, self.two.terms[b].weight) * how for a, b, how in self.pairs)

    @cached_property
    def score(self) -> float:
        rest = (_weight(self.left) + _weight(self.right)) / 2
        return self.shared / (self.shared + rest) if self.shared else 0.0

    @cached_property
    def frame(self) -> list[tuple[int, int]]:
        """The words, as they stand, that both have in the same order: their places in the two."""
        return common_run(self.one.frame, self.two.frame)

    @cached_property
    def frame_share(self) -> float:
        longest = max(len(self.one.frame), len(self.two.frame))
        return len(self.frame) / longest if longest else 0.0

    @cached_property
    def opposed(self) -> list[Term]:
        """Left-over words that exclude each other: first and last, happy and unhappy."""
        groups = exclusive(self.language)
        nothing: frozenset[tuple[str, ...]] = frozenset()
        found = []
        for a in self.left:
            for b in self.right:
                shares_group = bool(groups.get(a.value, nothing) & groups.get(b.value, nothing))
                if a.kind == b.kind == "word" and (shares_group or _undoes(a, b) or _undoes(b, a)):
                    found += [a, b]
        return found

    @cached_property
    def differing(self) -> list[str]:
        """The kinds of specifics in which each has something that the other has not."""
        return [kind for kind in ("figure", "code", "name") if _both_have(kind, self.left, self.right)]

    def difference(self) -> str:
        """What keeps the two apart however alike they look, or ""."""
        one, two = self.one, self.two
        if (one.denials - two.denials) % 2 or _replaces(one, two) or _replaces(two, one):
            return "denial"
        if (
            self.opposed
            or self._turns_round()
            or _exclude(one.marks, two.marks)
            or ("formerly" in one.marks) != ("formerly" in two.marks)
        ):
            return "opposites"
        if self.differing:
            return f"{self.differing[0]}s"
        if _exclude(one.parties, two.parties):
            return "parties"
        turned = any(frozenset((a.via, b.via)) in _OPPOSITE_VIAS for a, b in self._exact())
        return "order" if turned or runs_backwards(one, two) or self._swaps_roles() else ""

    def is_about_one_thing(self, why: str) -> bool:
        """Whether what differs makes the two contradict each other: all else is shared, and one place differs."""
        plain = [
            [term for term in side if term.kind == "word" and term.is_strong and not term.is_name]
            for side in (self.left, self.right)
        ]
        plain = [[term for term in side if term not in self.opposed] for side in plain]
        if all(plain):
            return False
        share = self.shared / (self.shared + _weight(plain[0] + plain[1]) / 2) if self.shared else 0.0
        if share < PREDICATE:
            return False
        if why == "denial":
            return not self.differing
        only_figures = all(term.kind == "figure" for term in (*self.left, *self.right) if term.is_strong)
        return only_figures or why in ("order", "parties") or max(stretches(self.left), stretches(self.right)) <= 1

    def is_word_for_word(self) -> bool:
        """Whether nothing of weight is left over, and all of it stands in the same relation."""
        one, two = self.one, self.two
        if (self.left and self.right) or any(how < 1 for _, _, how in self.pairs):
            return False
        if any(term.value not in vocabulary("en").light for term in (*self.left, *self.right)):
            return False
        if (one.denials, one.denied, one.instead) != (two.denials, two.denied, two.instead):
            return False
        if one.marks - _EASY != two.marks - _EASY or (one.leads ^ two.leads) & one.parties & two.parties:
            return False
        by = [any(_is_doer(term) for term in reading.terms) for reading in (one, two)]
        # Where a verb of little weight stands is grammar: "run the tests", "tests are run".
        places = [b for a, b, _ in sorted(self.pairs) if one.terms[a].is_strong]
        in_order = places == sorted(places)
        if by[0] != by[1]:
            # "A scans B" and "B is scanned by A".
            return not in_order
        if any((a.owns, _telling(a)) != (b.owns, _telling(b)) for a, b in self._exact()):
            return False
        is_turned = any(places[at:] + places[:at] == sorted(places) for at in range(1, len(places)))
        return in_order or (is_turned and one.is_fronted != two.is_fronted)

    def is_near(self, cosine: Cosine | None) -> bool:
        """Whether a person should see the two side by side."""
        if self._substitutes():
            return False
        adds = [any(term.is_strong for term in side) for side in (self.left, self.right)]
        if self.score >= NEAR or (self.shared >= ENOUGH and not all(adds)):
            return True
        value = cosine() if cosine is not None and self.score >= min(words for words, _ in CLOSE) else None
        return value is not None and any(self.score >= words and value >= floor for words, floor in CLOSE)

    def is_reworded(self, cosine: Cosine | None) -> bool:
        """Whether what one denies may be what the other says with a word of its own."""
        words = [any(term.kind == "word" and term.is_strong for term in side) for side in (self.left, self.right)]
        if self.differing or self.opposed or not all(words) or self.score < PREDICATE or cosine is None:
            return False
        value = cosine()
        return value is not None and value >= REWORDED_COSINE

    def _substitutes(self) -> bool:
        """Whether one has a word where the other has another one, in a frame that is the same word by word."""
        if self.frame_share < FRAME or not any(term.is_strong for term in (*self.left, *self.right)):
            return False
        if self.language in ("zh", "ja") and max(len(self.left), len(self.right)) <= 1:
            return False  # one character is rarely a word
        return bool({self._gap(0, term.at) for term in self.left} & {self._gap(1, term.at) for term in self.right})

    def _gap(self, side: int, at: int) -> int:
        """Between which common words the word `at` stands."""
        return sum(1 for places in self.frame if places[side] < at)

    def _turns_round(self) -> bool:
        """Whether one says "in" where the other says "out", in the same place of the same frame."""
        if self.frame_share < FRAME:
            return False
        kept = [{places[side] for places in self.frame} for side in (0, 1)]
        rest = [
            {(self._gap(side, at), word) for at, word in enumerate(reading.frame) if at not in kept[side]}
            for side, reading in enumerate((self.one, self.two))
        ]
        return any(
            gap == other and frozenset((word, turned)) in _OPPOSITE_PARTICLES
            for gap, word in rest[0]
            for other, turned in rest[1]
        )

    def _exact(self) -> list[tuple[Term, Term]]:
        return [(self.one.terms[a], self.two.terms[b]) for a, b, how in self.pairs if how == 1.0]

    def _swaps_roles(self) -> bool:
        """Whether the two turn round who does it and to whom it is done, in the same construction.

        "A calls B" and "B calls A" do; "A calls B" and "B is called by A" do not, nor "B runs on A" and "A runs B".
        """
        if self.one.first or self.two.first or self.language in ("zh", "ja"):
            return False
        one = [a for a, _ in sorted(self._exact(), key=lambda pair: pair[0].at)]
        two = [b for _, b in sorted(self._exact(), key=lambda pair: pair[1].at)]
        values, others = [term.value for term in one], [term.value for term in two]
        if values == others:
            # "is managed by Jonas" and "manages Jonas".
            return any({a.via, b.via} == {"by", ""} and a.is_name for a, b in zip(one[1:], two[1:], strict=True))
        differ = [at for at, (a, b) in enumerate(zip(values, others, strict=True)) if a != b]
        part = slice(differ[0], differ[-1] + 1)
        return is_exchange(one[part], two[part], bool(_JOINS & {*self.one.frame}))


# Parts ---------------------------------------------------------------------------------------------------------------


def _telling(term: Term) -> str:
    return term.via if term.via in _TELLING and not (term.via == "by" and not _is_doer(term)) else ""


def _is_doer(term: Term) -> bool:
    """Whether it is who does it ("by the gateway"), and not by what means or when ("by e-mail", "by Friday")."""
    return term.via == "by" and not is_when(term) and term.value not in _MEANS


def _replaces(one: Reading, two: Reading) -> bool:
    """Whether the one says that something else takes the place of what the other says."""
    held = {term.value for term in one.terms} - one.instead
    return bool(one.instead & ({term.value for term in two.terms} - two.instead - held))


def _exclude(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether a mark, or a party, of the one excludes one of the other."""
    return any(len(pair & one) == len(pair & two) == 1 and pair & one != pair & two for pair in _OPPOSITE_MARKS)


def _matched(one: Sequence[Term], two: Sequence[Term]) -> tuple[list[tuple[int, int, float]], list[int], list[int]]:
    """Each term with its like in the other, exact ones first, each used once; and the places left over."""
    free, rest = list(range(len(two))), list(range(len(one)))
    pairs: list[tuple[int, int, float]] = []
    for is_like, how in ((_is_same, 1.0), (_is_similar, SOFT)):
        for at in list(rest):
            found = next((place for place in free if is_like(one[at], two[place])), None)
            if found is not None:
                free.remove(found)
                rest.remove(at)
                pairs.append((at, found, how))
    return pairs, rest, free


def _is_same(a: Term, b: Term) -> bool:
    if a.kind == "name" and b.kind == "name":
        return a.surface == b.surface
    if {a.kind, b.kind} & {"figure", "code"}:
        return a.value == b.value and (a.kind == b.kind or a.surface == b.surface)
    return a.value == b.value or a.surface == b.surface


def _is_similar(a: Term, b: Term) -> bool:
    """Two forms of one word that the stemmer keeps apart: complain and complaint, a compound and its part."""
    if a.kind != "word" or b.kind != "word" or (a.may_be_name and b.may_be_name):
        return False
    shorter, longer = sorted((a.value, b.value), key=len)
    if len(shorter) >= 7 and (longer.startswith(shorter) or longer.endswith(shorter)):
        return True
    common = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    return common >= 4 and common >= 0.7 * len(longer)


def _undoes(a: Term, b: Term) -> bool:
    """Whether one is the other with a prefix that turns it round: unhappy, invalid."""
    return any(
        longer.endswith(shorter) and longer.removesuffix(shorter) in _UNDOING
        for longer, shorter in ((a.surface, b.surface), (a.value, b.value))
    )


def _both_have(kind: str, left: Sequence[Term], right: Sequence[Term]) -> bool:
    if kind != "name":
        return all(any(term.kind == kind for term in side) for side in (left, right))
    if any(term.weight == LETTER for term in (*left, *right)):
        return min(len(left), len(right)) >= 2  # one character is rarely a name
    # A name against a word may be one: "built with Vite", "built with webpack".
    named = [any(term.kind == "name" for term in side) for side in (left, right)]
    worded = [any(term.kind in ("name", "word") and term.is_strong for term in side) for side in (left, right)]
    likely = [any(term.is_name for term in side) for side in (left, right)]
    return (named[0] and worded[1]) or (named[1] and worded[0]) or all(likely)


def _weight(terms: Iterable[Term]) -> float:
    return sum(term.weight for term in terms)
