"""What a signed-in person does to a memory: one verb of Fact, its consequences for agents, and the trail, in one
transaction. No key and no token comes this way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from memory import rendering
from memory.models import Decision, Evidence, Fact, FactChanged, Relation, Status, Verb
from memory.models.fact import MAX_TEXT
from memory.types import table
from projects import audit
from projects.models import Membership, Project
from projects.words import later
from review.cards.pieces import has_hidden
from review.deciding import leases, sampling, second_person
from review.deciding.answers import ANSWERS, same_as
from review.deciding.consequences import follow
from review.deciding.reading import read, refuse_a_third, refuse_unread, refuse_unseen

# Number, code, words: the digit that a reviewer types after X.
REASONS: tuple[tuple[str, str, str], ...] = (
    ("1", "not_true", later("Not true")),
    ("2", "vague", later("Too vague")),
    ("3", "known", later("Already known")),
    ("4", "once", later("Only for this once")),
    ("5", "not_ours", later("Not ours to keep")),
    ("6", "wrong_person", later("About the wrong person")),
    ("7", "misread", later("Misread the quote")),
    ("8", "instruction", later("An instruction")),
    ("9", "dated", later("Out of date soon")),
    ("0", "other", later("Something else")),
)
# Verbs that may make the memory itself live: its quotes are read once more.
COUNTERSIGNS = ("approve", "keep_second", "keep_both")
REASON_WORDS = {code: words for _, code, words in REASONS}
VERB_WORDS = {
    "propose": later("Proposed"),
    "create": later("Written by hand"),
    "approve": later("Countersigned"),
    "first yes": later("First yes"),
    "edit": later("Edited"),
    "reject": later("Rejected"),
    "rescope": later("Goes to others"),
    "merge": later("Merged"),
    "supersede": later("Replaced"),
    "put off": later("Put off"),
    "remove": later("Withdrawn"),
    "expire": later("Expired"),
    "lapse": later("Not now"),
    "restore": later("Restored"),
    "reconfirm": later("Confirmed"),
    "undo": later("Undone"),
}
# Of a decision that was made just now.
DONE_WORDS = {**VERB_WORDS, "approve": later("Approved")}


class BadDecision(Exception):
    """The form cannot be carried out as it stands. `field` names where the message belongs."""

    def __init__(self, message: str, field: str = "") -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True)
class Outcome:
    """A decision that was made: what, on which memory, and the sentence that says so."""

    decision: Decision
    fact: Fact
    words: str


def decide(
    membership: Membership, fact: Fact, verb: str, revision: int, form: dict[str, Any], now: datetime
) -> Outcome:
    """Carries out one decision of a reviewer: one of the verbs below, or an answer of `review.deciding.answers`.

    `form` holds what the verb needs: text, expires_at, everyone and agent_ids for approve and edit; reason and note for
    reject and remove; until for put_off; `opened` where a risky card's quote was opened; `signed_before` where the
    words or the readers are those of a version that was approved. Raises FactChanged (somebody was first), NotAllowed,
    BadDecision.
    """
    person = membership.person
    edits = _edits(membership.project, fact, form)
    # Drawn from what came on arrival: it looks like any new card, and its answer is about a live memory.
    asked, is_sample = verb, sampling.is_open(fact, now)
    if is_sample:
        verb, form = sampling.as_of_live(verb, form, edits)
    first: Decision | None = None
    if verb in COUNTERSIGNS:
        found = read(fact)
        refuse_untrue(found.quotes, edits.get("text", fact.text))
        # Who saw another revision, or a memory beside it that is gone, is told that first.
        is_old = fact.revision != revision or (verb in ANSWERS and not _is_there(fact.related))
        refuse_unread(fact, bool(form.get("opened")) or is_old, found)
        changed = edits if verb == "approve" else {}
        if "replaces" in form and not is_old:
            refuse_unseen(fact, form["replaces"], changed, now)
        if found.needs_two or second_person.is_order_with(fact, changed):
            first = second_person.first_yes(fact, person, revision, now, changed)
    if first is not None:
        decision, words = first, _("First yes: a second person decides")
    elif verb in ANSWERS:
        answer, words = ANSWERS[verb]
        if verb in ("keep_first", "keep_both") and fact.related is not None:
            found = read(fact.related)
            refuse_untrue(found.quotes, fact.related.text)
            if found.needs_two:
                second_person.refuse_beside(fact.related, person)
            refuse_unread(fact.related, bool(form.get("opened")), found)
            refuse_a_third(fact.related)
        decision = answer(fact, person, revision, form.get("beside", 0), now)
    elif verb == "same_as":
        other, seen = form.get("other", 0), form.get("other_revision", 0)
        decision, words = same_as(fact, person, other, revision, seen, now), _("Merged")
    elif verb == "approve":
        replaces = fact.related if fact.relation == Relation.CHANGES and _is_live(fact.related) else None
        if replaces is not None and form.get("beside", replaces.revision) != replaces.revision:
            raise FactChanged(replaces)
        decision = fact.approve(person, revision=revision, now=now, replaces=replaces, **edits)
        words = _("Approved")
    elif verb == "edit":
        if not edits:
            raise BadDecision(_("Nothing was changed."), "text")
        if not form.get("signed_before"):
            second_person.refuse_alone(fact, edits)
        decision = fact.edit(person, revision=revision, now=now, **edits)
        words = _("Edited")
    elif verb == "reject":
        decision = fact.reject(person, revision=revision, now=now, reason=_reason(form), note=_reason_note(form))
        words = f"Rejected, {REASON_WORDS[decision.reason].lower()}"
    elif verb == "rescope":
        scope: dict[str, Any] = {name: edits[name] for name in ("everyone", "agent_ids") if name in edits}
        if not scope:
            raise BadDecision(_("Choose who gets it."), "scope")
        if not form.get("signed_before"):
            second_person.refuse_alone(fact, scope)
        decision = fact.rescope(person, revision=revision, now=now, **scope)
        words = _("Goes to others now")
    elif verb == "put_off":
        decision = fact.put_off(person, revision=revision, now=now, until=form.get("until") or now + timedelta(days=1))
        words = _("Later")
    elif verb == "remove":
        reason = _reason(form) if form.get("reason") else ""
        decision = fact.remove(person, revision=revision, now=now, reason=reason, note=_note(form))
        words = _("Withdrawn")
    else:
        raise BadDecision(_("This is no decision that can be made."))
    if is_sample:
        words = {"approve": _("Approved"), "reject": _("Rejected")}.get(asked, words)
    if decision.verb not in (Verb.EDIT, Verb.RESCOPE) or (is_sample and asked == "approve"):
        leases.end(fact)
    follow(decision, now)
    audit.record(f"fact.{verb}", person, project_id=fact.project_id, object_kind="fact", object_ids=[fact.pk], now=now)
    return Outcome(decision, fact, words)


def clean_sentence(text: str) -> str:
    """A sentence as it is kept: cleaned, on one line. Raises BadDecision when nothing, or too much, is left."""
    cleaned = rendering.clean_line(text)
    if not cleaned:
        raise BadDecision(_("Write one sentence."), "text")
    if len(cleaned) > MAX_TEXT:
        raise BadDecision(
            (_("Keep it to one sentence; %(max_text)s characters are the limit.") % {"max_text": f"{MAX_TEXT:,}"}),
            "text",
        )
    return cleaned


def _is_live(fact: Fact | None) -> bool:
    return fact is not None and fact.status == Status.APPROVED


def _is_there(fact: Fact | None) -> bool:
    return fact is not None and fact.status in (Status.APPROVED, Status.PROPOSED)


def is_misquoted(quotes: Iterable[Evidence]) -> bool:
    """Whether one of these quotes, with their observations, is not in its source."""
    return any(row.verdict() == "mismatch" for row in quotes)


def refuse_untrue(quotes: Iterable[Evidence], text: str) -> None:
    """What may never be countersigned, whatever the page showed: a quote that is not there, characters nobody sees."""
    if is_misquoted(quotes):
        raise BadDecision(_("The quote is not in its source, so it cannot be approved. Reject it, or write it anew."))
    if has_hidden(text):
        raise BadDecision(_("The sentence holds hidden characters. Edit them out, then approve."), "text")


def _edits(project: Project, fact: Fact, form: dict[str, Any]) -> dict[str, Any]:
    edits: dict[str, Any] = {}
    if form.get("text") is not None:
        text = clean_sentence(form["text"])
        if text != fact.text:
            edits["text"] = text
            if isinstance(fact.value, str):
                edits["value"] = text
    if "expires_at" in form and form["expires_at"] != fact.expires_at:
        edits["expires_at"] = form["expires_at"]
    for name in ("type", "nature", "use"):
        if form.get(name) and form[name] != getattr(fact, name):
            edits[name] = form[name]
    # A type that an agent made up may stay; a person chooses from the project's table.
    if "type" in edits and edits["type"] not in table(project.types):
        raise BadDecision(_("Choose one of the project's types."), "text")
    if form.get("everyone") is not None:
        wanted = [] if form["everyone"] else sorted(set(form.get("agent_ids") or []))
        known = set(project.agents.values_list("pk", flat=True))
        if not form["everyone"] and (not wanted or not set(wanted) <= known):
            raise BadDecision(_("Choose at least one agent, or everyone."), "scope")
        if (form["everyone"], wanted) != (fact.everyone, fact.agent_ids):
            edits.update(everyone=form["everyone"], agent_ids=wanted)
    return edits


def _reason(form: dict[str, Any]) -> str:
    reason = form.get("reason", "")
    by_digit = {digit: code for digit, code, _ in REASONS}
    reason = by_digit.get(reason, reason)
    if reason not in REASON_WORDS:
        raise BadDecision(_("Say why: choose one of the ten reasons."), "reason")
    return reason


def _reason_note(form: dict[str, Any]) -> str:
    """Something else is a reason only with a few words beside it."""
    note = _note(form)
    if _reason(form) == "other" and not note:
        raise BadDecision(_("Say in a few words why."), "note")
    return note


def _note(form: dict[str, Any]) -> str:
    return rendering.clean_line(form.get("note") or "")[:500]
