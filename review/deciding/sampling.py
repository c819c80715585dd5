"""The watch over "on arrival": which memories a person looks at all the same, what they find, and when a rule ends.

One in ten is drawn, by a hash nobody outside can know, and thirty a week at least. A reviewer sees it as any new card.
The first severe fault in a type ends its rule, and what it let through last goes back in the pile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, Window
from django.db.models.functions import RowNumber
from django.utils.crypto import salted_hmac

from memory.models import Decision, Fact, Status, Verb
from projects import audit
from projects.models import Project
from review.deciding import policy as policies
from review.deciding.policy import Ending, Level, Policy, SentBack
from review.models import Sample

# A memory that should not have been let in, whatever it was worth: the others are matters of taste.
SEVERE = frozenset({"not_true", "wrong_person", "misread", "instruction", "not_ours"})
# Decisions of a type without a severe fault, before its proposals may be approved on arrival.
NEEDED = 60
ONE_IN = 10
LEAST_A_WEEK = 30
WEEK = timedelta(days=7)
# How many of the last ones a person looks at again when a rule ends.
BACK_IN_THE_PILE = 30
# Decisions of a type that are looked through for the last NEEDED memories: few are decided more than twice.
_LOOKED_THROUGH = 3 * NEEDED

# Of memories: whether it was drawn and nobody has looked yet.
IS_OPEN = Exists(Sample.objects.filter(fact=OuterRef("pk"), drawn=True, verdict=""))


@dataclass(frozen=True)
class Record:
    """What people decided about one type since the last severe fault: `clean` memories, NEEDED at most."""

    clean: int = 0

    @property
    def is_enough(self) -> bool:
        return self.clean >= NEEDED


def is_drawn(fact_id: int, drawn_this_week: int) -> bool:
    """Whether a person looks at this memory too: the same answer each time, and nobody outside can tell it before."""
    if drawn_this_week < LEAST_A_WEEK:
        return True
    digest = salted_hmac("review.sampling", str(fact_id), algorithm="sha256").digest()
    return int.from_bytes(digest[:8], "big") % ONE_IN == 0


def is_severe(verb: str, reason: str) -> bool:
    """Whether a decision says that this memory should never have been let in."""
    return verb in (Verb.REJECT, Verb.REMOVE) and reason in SEVERE


def drawn_this_week(project_id: int, type_name: str, now: datetime) -> int:
    return Sample.objects.filter(project=project_id, type=type_name, drawn=True, at__gt=now - WEEK).count()


def records(project: Project) -> dict[str, Record]:
    """What people decided about each type, one query: of what readers found, the newest decision of a memory first.

    What was brought in by a file or written by hand says nothing of a reader. What was undone does not count.
    """
    one_of_ours = Q(verb__in=[Verb.APPROVE, Verb.REJECT]) | Q(
        verb__in=[Verb.RECONFIRM, Verb.REMOVE], fact__sample__drawn=True
    )
    rows = (
        Decision.objects.filter(
            project=project, person__isnull=False, undone_by__isnull=True, fact__source="extraction"
        )
        .filter(one_of_ours | Q(verb=Verb.REMOVE, reason__in=SEVERE))
        .annotate(place=Window(RowNumber(), partition_by=F("fact__type"), order_by=F("pk").desc()))
        .filter(place__lte=_LOOKED_THROUGH)
        .order_by("-pk")
        .values_list("fact__type", "fact_id", "verb", "reason")
    )
    clean: dict[str, set[int]] = defaultdict(set)
    over: set[str] = set()
    for type_name, fact_id, verb, reason in rows:
        if type_name in over:
            continue
        if is_severe(verb, reason):
            over.add(type_name)
        else:
            clean[type_name].add(fact_id)
    return {name: Record(min(len(clean[name]), NEEDED)) for name in {*clean, *over}}


def is_open(fact: Fact, now: datetime) -> bool:
    """Whether this live memory lies in the pile as a new card: approved by a rule, drawn, and not looked at yet.

    At most one query, and none for what a person approved.
    """
    is_due = fact.review_due_at is not None and fact.review_due_at <= now
    if fact.status != Status.APPROVED or fact.approved_by_id is not None or not is_due:
        return False
    return Sample.objects.filter(fact=fact.pk, drawn=True, verdict="").exists()


def as_of_live(verb: str, form: dict[str, Any], edits: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What the answer to a new card means where the memory is live already: the verb and its form.

    `edits` loses who gets it, which a live memory changes by itself.
    """
    if verb == "approve":
        for name in ("everyone", "agent_ids"):
            edits.pop(name, None)
        return ("edit" if edits else "confirm"), form
    if verb == "same_as":
        return "remove", {**form, "reason": "known"}
    return ("remove" if verb == "reject" else verb), form


def open_ids(facts: Iterable[Fact]) -> set[int]:
    """Those of these live memories that lie in the pile as new cards: one query, or none."""
    ids = [fact.pk for fact in facts if fact.status == Status.APPROVED and fact.approved_by_id is None]
    if not ids:
        return set()
    return set(Sample.objects.filter(fact__in=ids, drawn=True, verdict="").values_list("fact_id", flat=True))


def heard(steps: Sequence[Decision], now: datetime) -> None:
    """What one act of a person tells about the rules: verdicts on what came on arrival, and the end of a rule.

    No query where none of its memories came on arrival and nothing severe was found.
    """
    by_rule = [step for step in steps if step.fact.approved_at is not None and step.fact.approved_by_id is None]
    samples = (
        {row.fact_id: row for row in Sample.objects.filter(fact__in=[step.fact_id for step in by_rule])}
        if by_rule
        else {}
    )
    for step in by_rule:
        if step.fact_id in samples:
            _answer(samples[step.fact_id], step, now)
    for step in steps:
        if step.person_id is not None and is_severe(step.verb, step.reason):
            sample = samples.get(step.fact_id)
            end(step.project_id, sample.type if sample else step.fact.type, step, now)


def end(project_id: int, type_name: str, found: Decision, now: datetime) -> int:
    """A severe fault in this type: where its proposals came in on arrival, a person sees them again from now on.

    Returns how many memories went back in the pile: the last that the rule let through and nobody has looked at.
    """
    if type_name not in Policy.of(Project.objects.only("review_policy", "types").get(pk=project_id)).arriving:
        return 0
    project = policies.hold(project_id)
    rule = Policy.of(project).arriving.get(type_name)
    if rule is None or rule.since is None:
        return 0
    back = _look_again(project, type_name, rule.since, now)
    ending = Ending(now, rule.since, found.reason, found.pk, len(back), by=rule.by, facts=back)
    cells = {"level": Level.LIST.value, "since": now.isoformat(), "by": None, "ended": ending.as_cells()}
    kept = dict(project.review_policy)
    kept["levels"] = {**kept["levels"], type_name: cells}
    policies.write(
        project,
        kept,
        [(type_name, Level.ARRIVAL.value, Level.LIST.value)],
        by=None,
        now=now,
        action="policy.end_on_arrival",
        decision=found.pk,
    )
    return len(back)


def _look_again(project: Project, type_name: str, since: datetime, now: datetime) -> tuple[SentBack, ...]:
    """Sends them back, and says how each stood before."""
    let_through = Sample.objects.filter(
        project=project, type=type_name, rule_since=since, verdict="", fact__status=Status.APPROVED
    ).order_by("-pk")
    was_drawn = dict(let_through.values_list("fact_id", "drawn")[:BACK_IN_THE_PILE])
    # Whoever decides one of them at this moment looks at it anyway, and must not be waited for.
    again = list(Fact.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk__in=was_drawn).order_by("pk"))
    before = tuple(SentBack(fact.pk, fact.revision, fact.review_due_at, was_drawn[fact.pk]) for fact in again)
    for fact in again:
        fact.look_again(now)
    # From now on it is known what they are: a person is asked whether they hold, not shown a new card.
    Sample.objects.filter(fact__in=[fact.pk for fact in again], drawn=True).update(drawn=False)
    audit.record(
        "fact.look_again",
        None,
        project_id=project.pk,
        object_kind="fact",
        object_ids=[fact.pk for fact in again],
        now=now,
    )
    return before


def _answer(sample: Sample, step: Decision, now: datetime) -> None:
    """Writes down what a person found, or takes it back with its undo. What only says who gets it is no finding."""
    if step.verb == Verb.UNDO:
        undone = step.undoes
        if undone is None or _verdict(undone) == "":
            return
        sample.verdict, sample.answered_by_id, sample.answered_at = "", None, None
    elif step.person_id is not None and (verdict := _verdict(step)):
        sample.verdict, sample.answered_by_id, sample.answered_at = verdict, step.person_id, now
    else:
        return
    sample.save(update_fields=["verdict", "answered_by", "answered_at"])


def _verdict(step: Decision) -> str:
    """`holds`, `minor`, `severe`, or "" where the decision is none about what it says."""
    if step.verb == Verb.REMOVE:
        return "severe" if is_severe(step.verb, step.reason) else "minor"
    return {Verb.RECONFIRM: "holds", Verb.EDIT: "minor"}.get(Verb(step.verb), "")
