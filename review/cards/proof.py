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

from memory import reads, short_ids
from memory.models import Evidence, Observation, Session
from review.cards.pieces import Piece, hidden_count, visible
from review.cards.proof_lines import COMMANDS, TERMINAL_KINDS, folded, whole
from review.cards.risk import LEAST_TRUSTED, Origin, is_web, origin

# Sessions whose quotes a card shows; the memory's own page shows more.
ON_CARD = 2
ON_PAGE = 10
SHELLS = {"", "bash", "shell", "sh", "exec", "exec_command", "local_shell", "shell_command", "terminal", "run_command"}
NEVER_SHOWN = ["meta", "usage", "context_lookup", "summary", "brief"]
# How far a command may lie from its result, or a turn from its neighbour, to be looked for.
REACH = 8
# Where a tool that reads the web was told what to read.
_ADDRESS = re.compile(r"https?://[^\s\"'<>]{1,400}")
ADDRESS_CHARACTERS = 80


@dataclass(frozen=True)
class Turn:
    """One turn: who, and the pieces of what was said; `("mark", …)` is quoted, `("gap", "… 38 lines")` is folded."""

    who: str
    pieces: tuple[Piece, ...]
    is_hit: bool
    is_command: bool = False
    is_shell: bool = False
    exit_code: int | None = None
    # The same with nothing folded, where the quote stands in more than a glance holds; and how much that is.
    whole: tuple[Piece, ...] = ()
    lines: int = 0
    characters: int = 0
    hidden: int = 0


@dataclass(frozen=True)
class Stretch:
    """Turns of one face, `speech` or `terminal`, that follow each other."""

    face: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Proof:
    """The quotes of one session, or one quote whose source is gone or says something else now.

    `verdict` as Evidence.verdict; `anchor` is the observation of the first quote; `page` what a tool read on the web.
    """

    verdict: str
    stretches: tuple[Stretch, ...]
    session: Session | None = None
    anchor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    origin: Origin = Origin.UNKNOWN
    # The observations that are quoted, by their row ids.
    quoted: tuple[int, ...] = ()
    page: str = ""
    asker: str = "user"

    @property
    def is_seen(self) -> bool:
        """Whether it was seen in a terminal, not said."""
        return self.stretches[0].face == "terminal"

    @property
    def line_count(self) -> int:
        """How many lines are to be read."""
        return sum("".join(text for _, text in turn.pieces).count("\n") + 1 for turn in self._turns)

    @property
    def hidden_count(self) -> int:
        """How many characters of what is to be read nobody sees."""
        return sum(turn.hidden for turn in self._turns)

    @property
    def _turns(self) -> tuple[Turn, ...]:
        return tuple(turn for stretch in self.stretches for turn in stretch.turns)


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
    turn = Turn("", tuple(visible(row.quote, "mark")), True, hidden=hidden_count(row.quote))
    return Proof(verdict, (Stretch("speech", (turn,)),), until=row.checked_at)


def _of_session(evidence: list[Evidence]) -> Proof:
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    places: list[int] = []
    for row in evidence:
        assert row.observation is not None
        spans[row.observation.pk].append((row.start, row.end))
        places.append(row.observation.seq)
    first = evidence[0].observation
    assert first is not None
    around = [row for row in _around(first.session_id, places) if row.kind not in NEVER_SHOWN or row.pk in spans]
    for turn in around:
        # One session: joined, it would be read anew with each of its turns.
        turn.session = first.session
    shown = _shown(around, spans)
    hits = [row for row in shown if row.pk in spans]
    asker = hits[0].session.asker()
    found = {origin(row) for row in hits}
    worst = next(one for one in LEAST_TRUSTED if one in found)
    return Proof(
        verdict="holds",
        stretches=tuple(_stretches(shown, spans, _ends(around), asker)),
        session=hits[0].session,
        anchor=short_ids.encode(hits[0].pk, "o"),
        since=hits[0].occurred_at,
        until=hits[-1].occurred_at,
        origin=worst,
        quoted=tuple(row.pk for row in hits),
        page=_page(around, hits) if worst == Origin.WEB else "",
        asker=asker,
    )


def _around(session_id: int, places: list[int]) -> list[Observation]:
    """The turns of a session that lie near these places, in their order: one query for places that lie together."""
    rows: dict[int, Observation] = {}
    here = sorted(set(places))
    while here:
        together = [here.pop(0)]
        while here and here[0] - together[-1] <= 2 * REACH:
            together.append(here.pop(0))
        named = {"session": session_id, "first": together[0] - REACH, "last": together[-1] + REACH}
        rows |= {row.pk: row for row in reads.TURNS.all(**named)}
    return list(rows.values())


def _page(around: list[Observation], hits: list[Observation]) -> str:
    """The address that the tool was asked to read, without its scheme; "" where nobody wrote it down."""
    for hit in hits:
        place = around.index(hit)
        call = [around[other].text for other in _partner(around, place, -1)] if hit.kind == "tool_result" else []
        for text in (*call, *hit.paths):
            if found := _ADDRESS.search(text):
                address = found[0].partition("://")[2].rstrip("/.,)}\\")
                return address if len(address) <= ADDRESS_CHARACTERS else address[:ADDRESS_CHARACTERS] + "…"
    return ""


def _is_terminal(row: Observation) -> bool:
    return row.kind in TERMINAL_KINDS


def _shown(around: list[Observation], spans: Iterable[int]) -> list[Observation]:
    """Of the rows round the quotes those worth showing, in order."""
    hits = [place for place, row in enumerate(around) if row.pk in spans]
    chosen = set(hits)
    for place in hits:
        row = around[place]
        # What a tool was asked to read on the web stands above the proof already.
        if row.kind == "tool_result" and not is_web(row.tool):
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
        marks = sorted(spans.get(row.pk, ()))
        pieces = tuple(folded(row, marks))
        is_shell = is_command and row.tool.casefold() in SHELLS
        is_cut = bool(marks) and any(mark == "gap" for mark, _ in pieces)
        turns.append(
            Turn(
                speaker(row, asker),
                pieces,
                row.pk in spans,
                is_command,
                is_shell,
                exit_code,
                whole=tuple(whole(row.text, marks)) if is_cut else (),
                lines=row.text.rstrip("\n").count("\n") + 1,
                characters=len(row.text),
                hidden=hidden_count(row.text) if marks else 0,
            )
        )
    if turns:
        yield Stretch(face, tuple(turns))
