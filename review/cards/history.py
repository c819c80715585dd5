"""What happened to a memory, newest first: who did what, word by word, and which earlier version can be had back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memory.models import Decision, Fact, Status, Verb
from memory.models.fact_status import MOVABLE
from projects.models import Agent, Membership
from review.cards.pieces import Piece
from review.cards.word_diff import diff
from review.templatetags import desk

# What of a version can be had back by itself: the wording, who gets it, until when.
TEXT, SCOPE, END = "text", "scope", "end"
FIELDS = {TEXT: ("text",), SCOPE: ("everyone", "agent_ids"), END: ("expires_at",)}


@dataclass(frozen=True)
class Step:
    """One line of a memory's history. `changes`: what else moved, a sentence each; `restores`: (what, words on the
    button) of this version that is not so now."""

    decision: Decision
    words: str
    reason: str
    before: list[Piece]
    after: list[Piece]
    changes: tuple[str, ...]
    can_undo: bool
    undone_by: Decision | None
    restores: tuple[tuple[str, str], ...]

    @property
    def lost_words(self) -> bool:
        """Whether the sentence before says something that the one after does not."""
        return any(mark == "gone" for mark, _piece in self.before)


def history(
    fact: Fact,
    membership: Membership,
    agents: Sequence[Agent],
    verbs: Mapping[str, str],
    reasons: Mapping[str, str],
    steps: Sequence[Decision] | None = None,
) -> list[Step]:
    """Each decision about this memory (`steps`, where they are no rows), newest first, in the words of `verbs` and
    `reasons`. One query."""
    if steps is None:
        steps = list(fact.decisions.select_related("person", "undoes", "undone_by__person").order_by("pk"))
    names = {agent.pk: agent.slug for agent in agents}
    standing = (fact.revision, _left_standing(steps, fact.revision))
    may = membership.can_review
    can_restore = may and fact.status in (Status.PROPOSED, Status.APPROVED)
    offered = {what: [_now(fact, what)] for what in FIELDS}
    found = []
    for step, state in reversed(versions(steps)):
        texts = ("text" in step.before and "text" in step.after) and (step.before["text"], step.after["text"])
        before, after = diff(texts[0] or "", texts[1] or "") if texts else ([], [])
        restores = []
        for what, fields in FIELDS.items():
            value = [state.get(name) for name in fields]
            moved = any(name in step.after for name in fields)
            if can_restore and moved and value not in offered[what]:
                offered[what].append(value)
                restores.append((what, _restore_words(what, state, names)))
        undone_by = getattr(step, "undone_by", None)
        stands = step.verb not in (Verb.PROPOSE, Verb.CREATE, Verb.UNDO) and undone_by is None
        found.append(
            Step(
                step,
                # A rule signs nothing: what stands there is its note.
                _("Approved") if step.verb == Verb.APPROVE and not step.person_id else verbs.get(step.verb, step.verb),
                reasons.get(step.reason, ""),
                before,
                after,
                tuple(_changes(step, names)),
                may and stands and step.revision_after in standing,
                undone_by,
                tuple(restores),
            )
        )
    return found


def _left_standing(steps: Sequence[Decision], revision: int) -> int:
    """The revision that today's is the same as, once every step that was taken back is passed over, pair by pair."""
    after = {step.revision_after: step for step in steps}
    while (step := after.get(revision)) is not None and step.verb == Verb.UNDO and step.undoes is not None:
        revision = step.undoes.revision_before
    return revision


def versions(steps: Sequence[Decision]) -> list[tuple[Decision, dict[str, Any]]]:
    """Each step, oldest first, with what the memory was after it (the fields of MOVABLE, as they are kept)."""
    state: dict[str, Any] = {}
    found = []
    for step in steps:
        state = state | {name: value for name, value in step.after.items() if name in MOVABLE}
        found.append((step, state))
    return found


def version_of(fact: Fact, decision_pk: int) -> dict[str, Any] | None:
    """What the memory was after that decision about it; None where there is no such one."""
    steps = list(fact.decisions.order_by("pk"))
    return next((state for step, state in versions(steps) if step.pk == decision_pk), None)


def _now(fact: Fact, what: str) -> list[Any]:
    values = [getattr(fact, name) for name in FIELDS[what]]
    return [value.isoformat() if isinstance(value, datetime) else value for value in values]


def _restore_words(what: str, state: dict[str, Any], names: dict[int, str]) -> str:
    if what == SCOPE:
        return _("Let it go to %(whom)s again") % {"whom": _whom(state.get("everyone"), state.get("agent_ids"), names)}
    if what == END:
        end = state.get("expires_at")
        return _("Give it this end again: %(end)s") % {"end": _day(end)}
    return _("Restore this wording")


def _changes(step: Decision, names: dict[int, str]) -> list[str]:
    """What else moved with it, for people."""
    said: list[str] = []
    before, after = step.before, step.after
    if not before:
        return said
    if "everyone" in after or "agent_ids" in after:
        was = {name: before.get(name, after.get(name)) for name in ("everyone", "agent_ids")}
        new = {name: after.get(name, before.get(name)) for name in ("everyone", "agent_ids")}
        whom = _whom(was["everyone"], was["agent_ids"], names), _whom(new["everyone"], new["agent_ids"], names)
        said.append(_("Went to %(was)s, now to %(now)s.") % {"was": whom[0], "now": whom[1]})
    if "expires_at" in after and "expires_at" in before:
        terms = {"was": _day(before["expires_at"]), "now": _day(after["expires_at"])}
        said.append(_("Lived until %(was)s, now until %(now)s.") % terms)
    if "type" in after and "type" in before:
        terms = {"was": before["type"].replace("_", " "), "now": after["type"].replace("_", " ")}
        said.append(_("Was %(was)s, now %(now)s.") % terms)
    if after.get("put_off_until") and step.verb == Verb.PUT_OFF:
        said.append(_("Comes back %(day)s.") % {"day": _day(after["put_off_until"])})
    return said


def _whom(everyone: Any, agent_ids: Any, names: dict[int, str]) -> str:
    # A snapshot keeps only what moved: without a list it went to nobody by name.
    if everyone or not agent_ids:
        return _("everyone")
    return ", ".join(names.get(pk, _("an archived agent")) for pk in agent_ids)


def _day(written: str | None) -> str:
    return desk.day(datetime.fromisoformat(written)) if written else _("no end")
