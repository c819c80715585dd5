"""A project that reviews by rules: one that works, one that ended, a sample that waits, and somebody who is new."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.models import Fact
from projects.models import Agent, Membership, Person, Project, Role
from review.deciding import arrival, decisions, policy
from review.deciding.policy import Level, Policy
from review.models import GoldAnswer, GoldItem
from tests import factories


def trust(rita: Person, olga: Person, now: datetime) -> dict[str, str]:
    """Olga owns project trust, Rita reviews, Nina has never practised. Addresses by name."""
    made = Project.objects.create(slug="trust", name="Trust")
    nina = factories.person("nina@example.com")
    owner, reviewer = factories.member(made, olga, Role.OWNER), factories.member(made, rita)
    Membership.objects.create(project=made, person=nina, role=Role.REVIEWER)
    Agent.objects.create(project=made, slug="claude-code")
    began = now - timedelta(days=18)
    for levels in ({"fix": Level.ARRIVAL, "error": Level.ARRIVAL}, {"choice": Level.ONE_BY_ONE}):
        seen = Policy.of(made).version
        policy.change(made, seen=seen, by=olga, now=began, levels=levels)
    policy.change(made, seen=Policy.of(made).version, by=olga, now=began, sitting=30)
    facts = [_found(made, number, "fix" if number < 12 else "error", now) for number in range(16)]
    arrival.sweep(now)
    for fact in facts[:9]:
        _decide(reviewer, fact, "reject" if fact is facts[4] else "approve", now, reason="vague")
    _decide(reviewer, facts[13], "reject", now, reason="misread")
    waits = _found(made, 40, "choice", now)
    _decide(owner, _found(made, 41, "choice", now), "approve", now)
    for number in range(7):
        item = GoldItem.objects.create(project=made, card={}, flaw="number" if number % 2 else "")
        said = {"item": item, "person": rita, "verb": "approve", "is_right": number != 3, "at": now}
        GoldAnswer.objects.create(project=made, **said)
    return {
        "drawn": f"/p/trust/review?card={facts[10].short_id}",
        "let-in": f"/facts/{facts[0].short_id}",
        "let-in-unseen": f"/facts/{facts[11].short_id}",
        "trust-waits": f"/p/trust/review?card={waits.short_id}",
    }


def _found(made: Project, number: int, kind: str, now: datetime) -> Fact:
    agent = Agent.objects.get(project=made)
    at = now - timedelta(days=1) + timedelta(minutes=number)
    sentence = f"`make step-{number}` needs port {5000 + number} on the build host."
    session = factories.session(agent, f"run-{number}", now=at)
    row = factories.observation(session, sentence, kind="tool_result", role="tool", tool="Bash", now=at)
    return factories.proposal(
        made,
        sentence,
        about="repo:orders-api",
        key=f"{kind}:step.{number}",
        agent=agent,
        quote=row,
        distiller="local",
        prompt_version="3",
        now=at,
    )


def _decide(member: Membership, fact: Fact, verb: str, now: datetime, **form: str) -> None:
    fact = Fact.objects.select_related("subject", "project").get(pk=fact.pk)
    decisions.decide(member, fact, verb, fact.revision, dict(form) if verb == "reject" else {}, now)
