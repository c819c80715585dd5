"""What a signed-in person does to a memory: one verb of Fact, its consequences for agents, and the trail, in one
transaction. No key and no token comes this way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from memory import brief, embedding_store, privacy, rendering, tokens
from memory.models import Decision, Fact, FactChanged, NotAllowed, Relation, Status, Subject, Verb
from memory.models.fact import MAX_TEXT
from memory.types import table
from projects import audit
from projects.models import Membership, Person, Project, Role
from review.cards.pieces import has_hidden
from review.deciding.answers import ANSWERS

# Number, code, words: the digit that a reviewer types after X.
REASONS: tuple[tuple[str, str, str], ...] = (
    ("1", "not_true", "Not true"),
    ("2", "vague", "Too vague"),
    ("3", "known", "Already known"),
    ("4", "once", "Only for this once"),
    ("5", "not_ours", "Not ours to keep"),
    ("6", "wrong_person", "About the wrong person"),
    ("7", "misread", "Misread the quote"),
    ("8", "instruction", "An instruction"),
    ("9", "dated", "Out of date soon"),
    ("0", "other", "Something else"),
)
REASON_WORDS = {code: words for _, code, words in REASONS}
VERB_WORDS = {
    "propose": "Proposed",
    "create": "Written by hand",
    "approve": "Countersigned",
    "edit": "Edited",
    "reject": "Rejected",
    "rescope": "Goes to others",
    "merge": "Merged",
    "supersede": "Replaced",
    "put off": "Put off",
    "remove": "Withdrawn",
    "expire": "Expired",
    "lapse": "Not now",
    "restore": "Restored",
    "reconfirm": "Confirmed",
    "undo": "Undone",
}


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
    reject and remove; until for put_off. Raises FactChanged (somebody was first), NotAllowed, BadDecision.
    """
    person = membership.person
    edits = _edits(membership.project, fact, form)
    if verb in ANSWERS:
        answer, words = ANSWERS[verb]
        if verb in ("keep_second", "keep_both"):
            refuse_untrue(fact, fact.text)
        if verb in ("keep_first", "keep_both") and fact.related is not None:
            refuse_untrue(fact.related, fact.related.text)
        decision = answer(fact, person, revision, form.get("beside", 0), now)
    elif verb == "approve":
        refuse_untrue(fact, edits.get("text", fact.text))
        replaces = fact.related if fact.relation == Relation.CHANGES and _is_live(fact.related) else None
        if replaces is not None and form.get("beside", replaces.revision) != replaces.revision:
            raise FactChanged(replaces)
        decision = fact.approve(person, revision=revision, now=now, replaces=replaces, **edits)
        words = "Approved"
    elif verb == "edit":
        if not edits:
            raise BadDecision("Nothing was changed.", "text")
        decision = fact.edit(person, revision=revision, now=now, **edits)
        words = "Edited"
    elif verb == "reject":
        decision = fact.reject(person, revision=revision, now=now, reason=_reason(form), note=_note(form))
        words = f"Rejected, {REASON_WORDS[decision.reason].lower()}"
    elif verb == "rescope":
        scope = {name: edits[name] for name in ("everyone", "agent_ids") if name in edits}
        if not scope:
            raise BadDecision("Choose who gets it.", "scope")
        decision = fact.rescope(person, revision=revision, now=now, **scope)
        words = "Goes to others now"
    elif verb == "put_off":
        decision = fact.put_off(person, revision=revision, now=now, until=form.get("until") or now + timedelta(days=1))
        words = "Later"
    elif verb == "remove":
        reason = _reason(form) if form.get("reason") else ""
        decision = fact.remove(person, revision=revision, now=now, reason=reason, note=_note(form))
        words = "Withdrawn"
    else:
        raise BadDecision("This is no decision that can be made.")
    follow(decision, now)
    audit.record(f"fact.{verb}", person, project_id=fact.project_id, object_kind="fact", object_ids=[fact.pk], now=now)
    return Outcome(decision, fact, words)


@transaction.atomic
def create(
    membership: Membership,
    *,
    subject: Subject,
    type: str,
    key: str,
    value: Any,
    text: str,
    everyone: bool,
    agent_ids: list[int],
    expires_at: datetime | None,
    now: datetime,
) -> Outcome:
    """A memory written by hand and countersigned by its author; refused, nothing of it stays.

    Raises BadDecision, NotAllowed.
    """
    text = clean_sentence(text)
    fact, is_new = Fact.propose(
        subject=subject,
        type=type,
        key=key,
        value=value,
        text=text,
        source="manual",
        person=membership.person,
        everyone=everyone,
        agent_ids=agent_ids,
        findings=[finding.as_dict() for finding in privacy.clean_text(text).findings],
        expires_at=expires_at,
        now=now,
    )
    if not is_new:
        raise BadDecision("The same memory waits in the pile already. Approve it there.", "text")
    return decide(membership, fact, "approve", fact.revision, {}, now)


def last_of(person: Person, project: Project, now: datetime) -> Decision | None:
    """This person's newest decision of the last hour that can still be undone: what U takes back."""
    return (
        Decision.objects.filter(
            project=project, person=person, at__gte=now - timedelta(hours=1), undone_by__isnull=True
        )
        .exclude(verb__in=[Verb.PROPOSE, Verb.CREATE, Verb.UNDO, Verb.SUPERSEDE])
        .select_related("fact__subject")
        .order_by("-pk")
        .first()
    )


@transaction.atomic
def undo(membership: Membership, decision: Decision, now: datetime) -> Outcome:
    """Takes back a decision and everything that went with it, or nothing of it.

    Raises NotAllowed, or FactChanged when a fact moved since.
    """
    if not membership.has(Role.REVIEWER):
        raise NotAllowed("Only a reviewer can undo.")
    together = list(Decision.objects.filter(batch=decision.batch).exclude(verb=Verb.UNDO).order_by("-pk"))
    undone = None
    for step in together:
        step_undone = step.fact.undo(step, membership.person, now=now)
        if step.pk == decision.pk:
            undone = step_undone
        follow(step_undone, now)
    if undone is None:
        raise NotAllowed("There is nothing to undo here.")
    fact = decision.fact
    fact.refresh_from_db()
    audit.record(
        "fact.undo", membership.person, project_id=fact.project_id, object_kind="fact", object_ids=[fact.pk], now=now
    )
    return Outcome(undone, fact, f"Undone: {decision.get_verb_display().lower()}")


def clean_sentence(text: str) -> str:
    """A sentence as it is kept: cleaned, on one line. Raises BadDecision when nothing, or too much, is left."""
    cleaned = rendering.clean_line(text)
    if not cleaned:
        raise BadDecision("Write one sentence.", "text")
    if len(cleaned) > MAX_TEXT:
        raise BadDecision(f"Keep it to one sentence; {MAX_TEXT:,} characters are the limit.", "text")
    return cleaned


def _is_live(fact: Fact | None) -> bool:
    return fact is not None and fact.status == Status.APPROVED


def refuse_untrue(fact: Fact, text: str) -> None:
    """What may never be countersigned, whatever the page showed: a quote that is not there, characters nobody sees."""
    if any(row.verdict() == "mismatch" for row in fact.evidence.select_related("observation")):
        raise BadDecision("The quote is not in its source, so it cannot be approved. Reject it, or write it anew.")
    if has_hidden(text):
        raise BadDecision("The sentence holds hidden characters. Edit them out, then approve.", "text")


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
        raise BadDecision("Choose one of the project's types.", "text")
    if form.get("everyone") is not None:
        wanted = [] if form["everyone"] else sorted(set(form.get("agent_ids") or []))
        known = set(project.agents.values_list("pk", flat=True))
        if not form["everyone"] and (not wanted or not set(wanted) <= known):
            raise BadDecision("Choose at least one agent, or everyone.", "scope")
        if (form["everyone"], wanted) != (fact.everyone, fact.agent_ids):
            edits.update(everyone=form["everyone"], agent_ids=wanted)
    return edits


def _reason(form: dict[str, Any]) -> str:
    reason = form.get("reason", "")
    by_digit = {digit: code for digit, code, _ in REASONS}
    reason = by_digit.get(reason, reason)
    if reason not in REASON_WORDS:
        raise BadDecision("Say why: choose one of the ten reasons.", "reason")
    return reason


def _note(form: dict[str, Any]) -> str:
    return rendering.clean_line(form.get("note") or "")[:500]


def follow(decision: Decision, now: datetime) -> None:
    """What it means for agents: vectors of changed texts, token counts, what they must no longer rely on."""
    for step in Decision.objects.filter(batch=decision.batch).select_related("fact"):
        fact = step.fact
        if fact.status == Status.APPROVED:
            line_tokens = tokens.count(rendering.fact_line(fact.short_id, fact.text))
            Fact.objects.filter(pk=fact.pk).update(tokens=line_tokens)
            embedding_store.refresh(fact)
        was_live = step.before.get("status", fact.status) == Status.APPROVED
        if was_live:
            brief.retract(fact, now)
