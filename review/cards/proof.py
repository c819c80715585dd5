"""The proof under a memory: its quotes where they were said or printed, one stretch a session, checked anew.

A stretch shows what a reviewer needs and folds the rest: the turns quoted, one before and after; of a command its line,
how it ended, and the lines round the quote. Everything is plain text in pieces.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from memory.models import Evidence, Observation, Session
from review.cards.pieces import Piece, visible

# Sessions whose quotes a card shows; the memory's own page shows more.
ON_CARD = 2
ON_PAGE = 10
TERMINAL_KINDS = {"tool_call", "tool_result", "action", "error", "edit"}
COMMANDS = {"tool_call", "action"}
SHELLS = {"", "bash", "shell", "sh", "exec", "exec_command", "local_shell", "shell_command", "terminal", "run_command"}
NEVER_SHOWN = ["meta", "usage", "context_lookup", "summary", "brief"]
# How far a command may lie from its result, or a turn from its neighbour, to be looked for.
REACH = 8
# Lines that are shown whole; of longer texts the lines round the quote, or the first of them.
WHOLE_LINES = 8
LINES_BEFORE = 0
LINES_AFTER = 1
COMMAND_LINES = 4
RESULT_LINES = 1
# Of a quote longer than this its beginning and its end; the session has all of it.
QUOTE_CHARACTERS = 600
LINE_CHARACTERS = 400
NEIGHBOUR_CHARACTERS = 280
# Claude Code prints it before the output; the number stands at the right already.
_EXIT_LINE = re.compile(r"Exit code -?\d+\n")


@dataclass(frozen=True)
class Turn:
    """One turn: who, and the pieces of what was said; `("mark", …)` is quoted, `("gap", "… 38 lines")` is folded."""

    who: str
    pieces: tuple[Piece, ...]
    is_hit: bool
    is_command: bool = False
    is_shell: bool = False
    exit_code: int | None = None


@dataclass(frozen=True)
class Stretch:
    """Turns of one face, `speech` or `terminal`, that follow each other."""

    face: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Proof:
    """The quotes of one session, or one quote whose source is gone or says something else now.

    `verdict` as Evidence.verdict; `anchor` is the observation of the first quote.
    """

    verdict: str
    stretches: tuple[Stretch, ...]
    session: Session | None = None
    anchor: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_seen(self) -> bool:
        """Whether it was seen in a terminal, not said."""
        return self.stretches[0].face == "terminal"


def speaker(observation: Observation, asker: str) -> str:
    """Who speaks in the gutter: the agent by its name, a tool by its own, the user as `asker`, else the role."""
    if observation.kind in ("tool_call", "edit", "action"):
        return observation.tool or observation.kind.replace("tool_call", "command")
    if observation.role == "tool" or observation.kind == "tool_result":
        return "result"
    if observation.role == "assistant":
        return observation.session.agent.slug
    return asker if observation.role == "user" else observation.role


def proofs_of(evidence: list[Evidence], most: int = ON_CARD) -> tuple[tuple[Proof, ...], int]:
    """At most `most` proofs in the order of the evidence, and how many more there are. One query for each shown.

    A quote that is not in its source comes first, whatever else there is: nothing can be approved beside it.
    """
    held: dict[int, list[Evidence]] = defaultdict(list)
    found: list[list[Evidence]] = []
    broken: list[list[Evidence]] = []
    for row in evidence:
        verdict = row.verdict()
        if verdict == "mismatch":
            broken.append([row])
        elif row.observation is None:
            found.append([row])
        else:
            of_session = held[row.observation.session_id]
            if not of_session:
                found.append(of_session)
            of_session.append(row)
    groups = [*broken, *found]
    return tuple(_proof(group) for group in groups[:most]), max(0, len(groups) - most)


def _proof(group: list[Evidence]) -> Proof:
    verdict = group[0].verdict()
    return _of_session(group) if verdict == "holds" else _sourceless(group[0], verdict)


def _sourceless(row: Evidence, verdict: str) -> Proof:
    turn = Turn("", tuple(visible(row.quote, "mark")), True)
    return Proof(verdict, (Stretch("speech", (turn,)),), until=row.checked_at)


def _of_session(evidence: list[Evidence]) -> Proof:
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    near = Q()
    for row in evidence:
        assert row.observation is not None
        spans[row.observation.pk].append((row.start, row.end))
        near |= Q(seq__gte=row.observation.seq - REACH, seq__lte=row.observation.seq + REACH)
    first = evidence[0].observation
    assert first is not None
    around = list(
        Observation.objects.filter(near, session_id=first.session_id)
        .exclude(Q(kind__in=NEVER_SHOWN) & ~Q(pk__in=spans))
        .select_related("session__agent")
        .order_by("seq", "pk")
    )
    shown = _shown(around, spans)
    hits = [row for row in shown if row.pk in spans]
    return Proof(
        verdict="holds",
        stretches=tuple(_stretches(shown, spans, _ends(around), hits[0].session.asker())),
        session=hits[0].session,
        anchor=hits[0].pk,
        since=hits[0].occurred_at,
        until=hits[-1].occurred_at,
    )


def _is_terminal(row: Observation) -> bool:
    return row.kind in TERMINAL_KINDS


def _shown(around: list[Observation], spans: Iterable[int]) -> list[Observation]:
    """Of the rows round the quotes those worth showing, in order."""
    hits = [place for place, row in enumerate(around) if row.pk in spans]
    chosen = set(hits)
    for place in hits:
        row = around[place]
        if row.kind == "tool_result":
            chosen.update(_partner(around, place, -1))
        elif row.kind in COMMANDS:
            chosen.update(_partner(around, place, 1))
    if not any(_is_terminal(around[place]) for place in hits):
        for place in hits:
            chosen.update(_next_speech(around, place, -1))
            chosen.update(_next_speech(around, place, 1))
    return [around[place] for place in sorted(chosen)]


def _partner(around: list[Observation], place: int, step: int) -> list[int]:
    """The command of a result (`step` -1), or the result of a command (1)."""
    row, wanted = around[place], COMMANDS if step < 0 else {"tool_result"}
    places = range(place + step, -1 if step < 0 else len(around), step)
    for other in places:
        if around[other].kind in wanted and around[other].call_id == row.call_id:
            return [other]
    return []


def _next_speech(around: list[Observation], place: int, step: int) -> list[int]:
    for other in range(place + step, -1 if step < 0 else len(around), step):
        if not _is_terminal(around[other]) and around[other].text.strip():
            return [other]
    return []


def _ends(around: list[Observation]) -> dict[str, int | None]:
    """How each command ended, by the id of its call."""
    return {row.call_id: row.exit_code for row in around if row.kind == "tool_result" and row.call_id}


def _stretches(
    shown: list[Observation],
    spans: dict[int, list[tuple[int, int]]],
    ends: dict[str, int | None],
    asker: str,
) -> Iterable[Stretch]:
    turns: list[Turn] = []
    told: set[str] = set()
    face = ""
    for row in shown:
        own = "terminal" if _is_terminal(row) else "speech"
        if own != face and turns:
            yield Stretch(face, tuple(turns))
            turns = []
        face = own
        is_command = row.kind in COMMANDS
        exit_code = ends.get(row.call_id) if is_command else row.exit_code
        # It stands beside the command; the result need not say it again.
        if row.call_id in told:
            exit_code = None
        elif row.call_id and exit_code is not None:
            told.add(row.call_id)
        pieces = tuple(_pieces(row, sorted(spans.get(row.pk, ()))))
        is_shell = is_command and row.tool.casefold() in SHELLS
        turns.append(Turn(speaker(row, asker), pieces, row.pk in spans, is_command, is_shell, exit_code))
    if turns:
        yield Stretch(face, tuple(turns))


def _pieces(row: Observation, marks: list[tuple[int, int]]) -> list[Piece]:
    """The row's text with its quotes marked, the rest folded to what helps to read them."""
    text = row.text
    if not marks:
        if not _is_terminal(row):
            return visible(text if len(text) <= NEIGHBOUR_CHARACTERS else text[:NEIGHBOUR_CHARACTERS].rstrip() + " …")
        return [piece for piece in _folded(text, _unmarked_lines(row, text), []) if _is_told(row, piece)]
    lines = _line_starts(text)
    keep: set[int] = set()
    for start, end in marks:
        first, last = _line_at(lines, start), _line_at(lines, max(start, end - 1))
        keep.update(range(first - LINES_BEFORE, last + LINES_AFTER + 1))
    if len(lines) <= WHOLE_LINES:
        keep = set(range(len(lines)))
    if exit_line := _EXIT_LINE.match(text):
        keep.discard(0 if marks[0][0] >= exit_line.end() else -1)
    return _folded(text, keep, marks)


def _is_told(row: Observation, piece: Piece) -> bool:
    """Of a command all is shown or what is missing is said; of what a fix printed the last words are enough."""
    return piece[0] != "gap" or row.kind in COMMANDS


def _unmarked_lines(row: Observation, text: str) -> set[int]:
    count = len(_line_starts(text.rstrip("\n")))
    if row.kind in COMMANDS:
        return set(range(min(count, COMMAND_LINES)))
    return set(range(count if count <= 2 else 0)) | set(range(max(0, count - RESULT_LINES), count))


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _line_at(starts: list[int], place: int) -> int:
    return next(number for number in range(len(starts) - 1, -1, -1) if starts[number] <= place)


def _folded(text: str, keep: set[int], marks: list[tuple[int, int]]) -> list[Piece]:
    """The kept lines, and `… 38 lines` where others lie between or after them; nothing is said of an exit line."""
    starts = [*_line_starts(text), len(text) + 1]
    pieces: list[Piece] = []
    skipped = 0
    for number in range(len(starts) - 1):
        start, end = starts[number], starts[number + 1] - 1
        if number not in keep:
            is_silent = not text[start:end].strip() or (number == 0 and _EXIT_LINE.match(text))
            skipped += 0 if is_silent else 1
            continue
        if skipped:
            pieces.append(("gap", _gap(skipped) + "\n"))
        skipped = 0
        pieces += _line(text, start, min(end + 1, len(text)), marks)
    if skipped:
        pieces.append(("gap", ("" if not pieces or pieces[-1][1].endswith("\n") else "\n") + _gap(skipped)))
    elif pieces and pieces[-1][1].endswith("\n"):
        mark, last = pieces.pop()
        pieces += [(mark, last.rstrip("\n"))] if last.strip("\n") else []
    return pieces


def _gap(lines: int) -> str:
    return f"… {lines:,} line{'' if lines == 1 else 's'}"


def _line(text: str, start: int, end: int, marks: list[tuple[int, int]]) -> list[Piece]:
    """One line with its marks whole; what lies far from them on a very long line is left out."""
    pieces: list[Piece] = []
    here = start
    inside = [(max(a, start), min(b, end)) for a, b in marks if a < end and b > start]
    for a, b in inside:
        if a >= here:
            pieces += visible(_near(text[here:a], ends=bool(pieces), starts=True)) + _quote(text[a:b])
            here = b
        elif b > here:
            pieces += _quote(text[here:b])
            here = b
    return pieces + visible(_near(text[here:end], ends=bool(pieces), starts=False))


def _quote(text: str) -> list[Piece]:
    if len(text) <= QUOTE_CHARACTERS:
        return visible(text, "mark")
    head, tail = text[: QUOTE_CHARACTERS * 2 // 3], text[-QUOTE_CHARACTERS // 6 :]
    gap = f" … {len(text) - len(head) - len(tail):,} characters, all in the session … "
    return [*visible(head, "mark"), ("gap", gap), *visible(tail, "mark")]


def _near(text: str, *, ends: bool, starts: bool) -> str:
    """What stands between two marks, before one (`starts`) or after one (`ends`), shortened on the far side."""
    if len(text) <= LINE_CHARACTERS:
        return text
    newline = "\n" if text.endswith("\n") else ""
    half = LINE_CHARACTERS // 2
    if starts and not ends:
        return "… " + text[-half:]
    if starts:
        return text[:half] + " … " + text[-half:]
    return text[:half].rstrip() + " …" + newline
