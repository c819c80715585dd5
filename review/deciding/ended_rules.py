"""A rule "on arrival" that a severe fault ended begins again when that fault is taken back.

With it goes everything as it was: whose rule it is and since when, and the memories that went back in the pile. What
somebody decided about one of them since, or an owner about the rule, stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _

from memory.models import Decision, Fact, Feedback, Status, Verdict
from memory.types import type_of
from projects.models import Person, Project
from review.deciding import policy as policies
from review.deciding import sampling
from review.deciding.policy import Ending, Level, Policy
from review.models import Sample


def begin_again(steps: Sequence[Decision], person: Person, now: datetime) -> str:
    """After an undo whose steps these are: what it means for rules that the decisions taken back had ended, in words,
    or "". No query where nothing severe was taken back."""
    said = []
    for step in steps:
        undone = step.undoes
        if undone is not None and sampling.is_severe(undone.verb, undone.reason):
            said.append(_begin_again(undone, person, now))
    return " ".join(words for words in said if words)


def _begin_again(undone: Decision, person: Person, now: datetime) -> str:
    seen = Project.objects.only("review_policy", "types").get(pk=undone.project_id)
    if not Policy.of(seen).ended_by(undone.pk):
        return ""
    project = policies.hold(undone.project_id)
    policy = Policy.of(project)
    name = policy.ended_by(undone.pk)
    rule = policy.rules.get(name)
    ending = rule.ending if rule is not None else None
    if ending is None or ending.decision != undone.pk:
        return _chosen_since(policy, name)
    heir = _another(name, undone)
    if heir is not None:
        _hand_over(project, name, ending, heir)
        return _("“On arrival” stays ended for %(type)s: there was another severe reject.") % _named(policy, name)
    cells = {"level": Level.ARRIVAL.value, "since": ending.began.isoformat(), "by": ending.by}
    kept = dict(project.review_policy)
    kept["levels"] = {**kept["levels"], name: cells}
    policies.write(
        project,
        kept,
        [(name, Level.LIST.value, Level.ARRIVAL.value)],
        by=person,
        now=now,
        action="policy.begin_again",
        decision=undone.pk,
        undo=True,
    )
    _as_before(ending)
    return _("“On arrival” holds again for %(type)s.") % _named(policy, name)


def _another(name: str, undone: Decision) -> Decision | None:
    """The next severe fault in that type which still stands: it would have ended the rule itself."""
    of_type = Q(fact__sample__type=name) | Q(fact__sample__isnull=True, fact__type=name)
    later = Decision.objects.filter(
        of_type, project=undone.project_id, person__isnull=False, undone_by__isnull=True, pk__gt=undone.pk
    ).order_by("pk")
    return next((one for one in later.iterator() if sampling.is_severe(one.verb, one.reason)), None)


def _hand_over(project: Project, name: str, ending: Ending, heir: Decision) -> None:
    kept = dict(project.review_policy)
    cells = replace(ending, decision=heir.pk, reason=heir.reason).as_cells()
    kept["levels"] = {**kept["levels"], name: {**kept["levels"][name], "ended": cells}}
    kept["log"] = [
        {**row, "decision": heir.pk} if isinstance(row, dict) and row.get("decision") == ending.decision else row
        for row in kept.get("log", [])
    ]
    project.review_policy = kept
    project.save(update_fields=["review_policy"])


def _as_before(ending: Ending) -> None:
    """What went back in the pile is due when it was, where nobody decided or complained about it since."""
    was = {one.fact: one for one in ending.facts}
    complained = Feedback.objects.filter(
        fact__in=was, verdict__in=[Verdict.MISLED, Verdict.STALE], at__gte=ending.at
    ).values_list("fact_id", flat=True)
    # Whoever decides one of them at this moment decides about it as it is, and must not be waited for.
    facts = list(
        Fact.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(pk__in=was.keys() - set(complained), status=Status.APPROVED)
        .order_by("pk")
    )
    settled = [fact.pk for fact in facts if fact.was_asked_at(ending.at, was[fact.pk].revision, was[fact.pk].due_at)]
    for fact in facts:
        if fact.pk in settled:
            fact.ask_no_more(was[fact.pk].due_at)
    drawn = [pk for pk in settled if was[pk].drawn]
    Sample.objects.filter(fact__in=drawn, verdict="").update(drawn=True)


def _chosen_since(policy: Policy, name: str) -> str:
    later = next((one for one in policy.changes if one.what == name and not one.is_undo), None)
    by = Person.objects.filter(pk=later.by).first() if later is not None and later.by is not None else None
    terms = {**_named(policy, name), "name": by.short_name if by is not None else _("an owner")}
    return _("How %(type)s is reviewed stays as %(name)s chose it since.") % terms


def _named(policy: Policy, name: str) -> dict[str, str]:
    return {"type": type_of(name, policy.types).words}
