"""Approved on arrival: by an owner's rule for a type, never by a person's hand and never what is to be looked at twice.

A sweep each minute approves what came in since the rule began and has nothing against it; everything else waits for a
person as before. Each one names the rule in its history and in the audit, and one in ten is drawn for a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from memory import suspicions
from memory.models import Decision, Evidence, Fact, FactChanged, NotAllowed, Status
from memory.models.fact_on_arrival import IMPERSONAL
from projects import audit, tenancy
from projects.models import Agent, Membership, Person, Project, Role
from review.cards.flags import SENTENCE_LIMIT, unsupported
from review.cards.risk import order_of, risk_of
from review.cards.served_value import unsaid
from review.cards.suspect import is_suspect
from review.deciding import policy as policies
from review.deciding import sampling
from review.deciding.consequences import follow
from review.deciding.policy import Policy, Rule
from review.models import Sample

# Of one type in one sweep: what is not among the newest waits for the next minute, or for a person.
LOOKED_AT = 500
MOST_AT_ONCE = 200


class RuleEnded(Exception):
    """The rule was taken back, or changed hands, since the sweep read it."""


def sweep(now: datetime) -> int:
    """Approves what may be, in all projects; returns how many. Each approval is a transaction of its own."""
    with tenancy.system("sweeper"):
        # A project that is paused stands still in every way.
        projects = list(Project.objects.filter(review_policy__has_key="levels", paused_at__isnull=True).order_by("pk"))
    return sum(
        arrive(project, name, rule, now) for project in projects for name, rule in Policy.of(project).arriving.items()
    )


def arrive(project: Project, type_name: str, rule: Rule, now: datetime) -> int:
    """Approves what came in under one rule and has nothing against it; returns how many."""
    with tenancy.project(project.pk):
        owner = owner_of(project, rule)
        found = list(_candidates(project, type_name, rule)[:LOOKED_AT])[::-1] if owner else []
        agents = list(project.agents.filter(archived_at__isnull=True))
        clear = [fact for fact in found if not why_not(fact, list(fact.evidence.all()), agents)]
    approved = 0
    for fact in clear[:MOST_AT_ONCE]:
        try:
            with tenancy.project(project.pk), transaction.atomic():
                approve(fact, rule, owner, now)
        except (FactChanged, NotAllowed):
            continue  # a person was first, or something stands beside it by now
        except RuleEnded:
            break
        approved += 1
    return approved


def owner_of(project: Project, rule: Rule) -> Person | None:
    """Who answers for a rule: its owner, as long as they own the project. A rule of nobody's approves nothing."""
    member = Membership.objects.filter(project=project, person=rule.by, role=Role.OWNER).select_related("person")
    found = member.first() if rule.by is not None else None
    return found.person if found else None


def approve(fact: Fact, rule: Rule, owner: Person | None, now: datetime) -> Decision:
    """One memory, in the running transaction. Raises FactChanged, NotAllowed, RuleEnded."""
    assert rule.since is not None
    decision = fact.approve_on_arrival(
        revision=fact.revision,
        now=now,
        note=words(rule, owner, fact.project),
        rule={"type": fact.type, "since": rule.since.isoformat(), "by": rule.by},
    )
    # In the order in which a decision takes its locks: the subject, the fact, then the project.
    policy = Policy.of(policies.hold(fact.project_id))
    if policy.arriving.get(fact.type) != rule:
        raise RuleEnded
    drawn = sampling.is_drawn(fact.pk, sampling.drawn_this_week(fact.project_id, fact.type, now))
    Sample.objects.create(
        project_id=fact.project_id,
        fact=fact,
        type=fact.type,
        rule_since=rule.since,
        rule_by_id=rule.by,
        drawn=drawn,
        at=now,
    )
    if drawn:
        fact.look_again(now)
    follow(decision, now)
    audit.record(
        f"fact.approve_by_policy_{policy.version}",
        None,
        project_id=fact.project_id,
        object_kind="fact",
        object_ids=[fact.pk],
        now=now,
    )
    return decision


def words(rule: Rule, owner: Person | None, project: Project) -> str:
    """`On arrival, by Olga’s rule of 12 Nov 2026`: what the history says where a signature would stand."""
    assert rule.since is not None
    local = rule.since.astimezone(ZoneInfo(project.timezone))
    terms = {"name": owner.short_name if owner else _("an owner"), "day": f"{local.day} {local:%b %Y}"}
    return _("On arrival, by %(name)s’s rule of %(day)s") % terms


def why_not(fact: Fact, evidence: Sequence[Evidence], agents: Sequence[Agent]) -> str:
    """What a person has to look at, or "": anything a card would flag. No query.

    What the memory itself and its neighbours rule out is for `Fact.approve_on_arrival`.
    """
    if not evidence:
        return _("It has no quote.")
    if any(row.observation is None or row.verdict() != "holds" for row in evidence):
        return _("A quote cannot be checked against its source.")
    if len(evidence) == 1 and evidence[0].observation is not None and evidence[0].observation.role == "user":
        return _("Somebody said it once, and nothing else speaks for it.")
    if risk_of(fact, evidence, agents) is not None or order_of(fact, evidence):
        return _("It reads like an instruction, or goes too far.")
    # Agents get its key and its value as well as its sentence.
    if is_suspect(fact) or suspicions.hosts_in(f"{fact.text}\n{fact.key}"):
        return _("It holds something that is not what it looks like, or names a host.")
    if unsaid(fact):
        return _("It holds more than its sentence says.")
    if len(fact.text) > SENTENCE_LIMIT or unsupported(fact, list(evidence)):
        return _("Its sentence says more than its quotes.")
    return ""


def _candidates(project: Project, type_name: str, rule: Rule) -> QuerySet[Fact]:
    """What came in since the rule began, the newest first; a proposal that waited before was never let in."""
    return (
        Fact.objects.filter(
            project=project,
            type=type_name,
            status=Status.PROPOSED,
            source="extraction",
            first_seen_at__gte=rule.since,
            findings=[],
            relation="",
            standing=False,
            put_off_until__isnull=True,
            first_yes_at__isnull=True,
            subject__entity_type__in=IMPERSONAL,
            # What a person took back once is theirs.
            sample__isnull=True,
        )
        # Edited, or rejected and taken back: somebody is at it.
        .exclude(Exists(Decision.objects.filter(fact=OuterRef("pk"), person__isnull=False)))
        .select_related("subject", "project", "proposed_by_agent")
        .prefetch_related("evidence__observation")
        .order_by("-pk")
    )
