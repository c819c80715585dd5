"""What an answer on the Insights page is made of (values): a sentence, a doubt, one small figure and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

from review.cards.pieces import Piece, visible

# The drawing area of a figure, in its own units; the words beside a line stand to the right of it.
WIDTH, HEIGHT, TOP = 370, 88, 12


@dataclass(frozen=True)
class Said:
    """Agent text in a figure or a table: its beginning, in pieces that show what is hidden in it."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, text: str, most: int = 90) -> Self:
        return cls(tuple(visible(text if len(text) <= most else text[: most - 1].rstrip() + "…")))


Cell = str | Said


@dataclass(frozen=True)
class Table:
    """The numbers behind a figure. `summary` is what the folded table is called; its first column holds words."""

    summary: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Bar:
    """One row: `share` of the longest (0-100), and inside it the part that counts more (`inner`, 0-100, or None)."""

    words: Cell
    value: str
    share: float
    inner: float | None = None
    is_rest: bool = False


@dataclass(frozen=True)
class Bars:
    """Rows with a stretched bar each."""

    rows: tuple[Bar, ...]
    is_long: bool = False
    kind: str = "bars"


@dataclass(frozen=True)
class Lines:
    """Two numbers a day, or a week: what matters in ink (`first`), what it is compared with in grey (`second`)."""

    days: tuple[date, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    first_words: str
    second_words: str
    label: str
    is_weekly: bool = False
    kind: str = "lines"

    @property
    def top(self) -> int:
        """The greatest number, so that both lines share one axis."""
        return max((*self.first, *self.second, 1))

    @property
    def first_path(self) -> str:
        return self._path(self.first)

    @property
    def second_path(self) -> str:
        return self._path(self.second)

    @property
    def first_at(self) -> float:
        """Where the words of the first line stand; the two never lie on each other."""
        return self._ends()[0]

    @property
    def second_at(self) -> float:
        return self._ends()[1]

    @property
    def series(self) -> list[list[int]]:
        """For the chart that answers to a pointer: seconds of each day (UTC midnight), first, second."""
        return [[_seconds(day) for day in self.days], list(self.first), list(self.second)]

    def _path(self, values: Sequence[int]) -> str:
        step = WIDTH / max(1, len(values) - 1)
        points = (f"{place * step:.1f} {self._y(value):.1f}" for place, value in enumerate(values))
        return "M" + "L".join(points)

    def _y(self, value: int) -> float:
        return TOP + HEIGHT * (1 - value / self.top)

    def _ends(self) -> tuple[float, float]:
        # The axis has its own words at the top, and a line of words is 17 high.
        one, other = (max(self._y(values[-1]) + 4, TOP + 22) for values in (self.first, self.second))
        if abs(one - other) >= 17:
            return one, other
        middle = min(max((one + other) / 2, TOP + 31), TOP + HEIGHT - 5)
        return (middle + 9, middle - 9) if one >= other else (middle - 9, middle + 9)


@dataclass(frozen=True)
class Column:
    """One column of a figure: where it stands and how high it is, in the figure's units."""

    x: float
    y: float
    width: float
    height: float
    is_last: bool


@dataclass(frozen=True)
class Columns:
    """One number a week; the last one in ink."""

    weeks: tuple[date, ...]
    values: tuple[int, ...]
    label: str
    note: str = ""
    kind: str = "columns"

    @property
    def columns(self) -> list[Column]:
        step, top, base = WIDTH / max(1, len(self.values)), max((*self.values, 1)), 60
        return [
            Column(
                round(place * step + (step - 22) / 2, 1),
                base - round(36 * value / top),
                22,
                round(36 * value / top),
                place == len(self.values) - 1,
            )
            for place, value in enumerate(self.values)
            if value
        ]


@dataclass(frozen=True)
class Answer:
    """One of the six questions. Without a figure there is nothing to draw yet, and the doubt says why."""

    question: str
    sentence: str
    doubt: str = ""
    figure: Bars | Lines | Columns | None = None
    table: Table | None = None


def bars(rows: Sequence[tuple[str, int, str]], rest: tuple[str, int] | None = None) -> Bars:
    """Bars of `(words, count, value in words)`, the longest filling the width; `rest` is the grey one that sums up."""
    longest = max([count for _, count, _ in rows] + ([rest[1]] if rest else []), default=0) or 1
    made = [Bar(words, value, 100 * count / longest) for words, count, value in rows]
    if rest is not None and rest[1]:
        made.append(Bar(rest[0], f"{rest[1]:,}", 100 * rest[1] / longest, is_rest=True))
    return Bars(tuple(made))


def _seconds(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86_400
