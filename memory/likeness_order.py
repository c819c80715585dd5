"""In which order two statements say what they say, and who does it to whom (plain values)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.likeness_terms import Reading, Term

_WHEN = frozenset(
    ["hourly", "daily", "nightly", "weekly", "monthly", "yearly", "morning", "noon", "afternoon", "evening"]
)


def is_exchange(one: Sequence[Term], two: Sequence[Term], joins: bool) -> bool:
    """Whether the one is X M Y and the other Y M X, with X and Y in the same construction."""
    values, others = [term.value for term in one], [term.value for term in two]
    for doer, middle, done in _cuts(values, others):
        x, y = one[:doer], one[doer + middle :]
        turned_y, turned_x = two[:done], two[done + middle :]
        if all(is_when(term) for term in x) or all(is_when(term) for term in y):
            continue
        if not middle and (joins or not all(term.is_name for term in (*x, *y))):
            continue
        if _stands(x) == _stands(turned_y) and _stands(y) == _stands(turned_x):
            return True
    return False


def _cuts(one: Sequence[str], two: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The sizes of X, M and Y wherever `one` is X M Y and `two` is Y M X."""
    size = len(one)
    for doer in range(1, size):
        if one[:doer] != two[size - doer :]:
            continue
        for done in range(1, size - doer + 1):
            if one[size - done :] == two[:done] and one[doer : size - done] == two[done : size - doer]:
                yield doer, size - doer - done, done


def _stands(part: Sequence[Term]) -> tuple[str, bool]:
    return part[0].via, part[-1].owns


def is_when(term: Term) -> bool:
    return term.kind == "figure" or term.value in _WHEN


def runs_backwards(one: Reading, two: Reading) -> bool:
    """Whether the two put the same events in opposite order."""
    if not (one.first and one.then and two.first and two.then):
        return False
    straight = len(one.first & two.first) + len(one.then & two.then)
    return len(one.first & two.then) + len(one.then & two.first) > straight


def stretches(terms: Sequence[Term]) -> int:
    """How many stretches of a statement these make: a name of two words is one."""
    places = sorted(term.at for term in terms)
    return sum(1 for at, place in enumerate(places) if at == 0 or place != places[at - 1] + 1)


def common_run(one: Sequence[str], two: Sequence[str]) -> list[tuple[int, int]]:
    """The longest run of words, gaps allowed, that stands in both in the same order, as pairs of places."""
    lengths = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for a in range(len(one) - 1, -1, -1):
        for b in range(len(two) - 1, -1, -1):
            same = one[a] == two[b]
            lengths[a][b] = lengths[a + 1][b + 1] + 1 if same else max(lengths[a + 1][b], lengths[a][b + 1])
    found: list[tuple[int, int]] = []
    a = b = 0
    while a < len(one) and b < len(two):
        if one[a] == two[b]:
            found.append((a, b))
            a, b = a + 1, b + 1
        elif lengths[a + 1][b] >= lengths[a][b + 1]:
            a += 1
        else:
            b += 1
    return found
