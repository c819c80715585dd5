"""A project with three months behind it: what came in, what was decided, told, complained about and paid for."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.models import BriefServed, Fact, Feedback, ModelCall, Verdict
from projects.models import Agent, Person, Project
from tests import factories

SENTENCES = (
    "Norway needs the tariff number on every parcel",
    "Lindqvist AB orders by purchase order only",
    "Nord boots run one size small",
    "The tests need Postgres 17",
    "Gift wrap is free in December",
    "Pallets are 120 by 80",
)
REASONS = ("vague", "vague", "vague", "once", "once", "known", "misread", "not_true", "instruction", "dated", "other")


def history(made: Project, rita: Person, olga: Person, now: datetime) -> None:
    """About 150 proposals over 80 days, most of them decided, by two people."""
    agents = list(Agent.objects.filter(project=made).order_by("slug"))
    live: list[Fact] = []
    number = 0
    for days in range(80, -1, -1):
        day = now - timedelta(days=days)
        if day.weekday() == 6:
            continue
        for place in range(1 + (days * 7) % 4):
            number += 1
            came, agent = day - timedelta(hours=3), agents[number % len(agents)]
            text = f"{SENTENCES[number % len(SENTENCES)]}, case {number}."
            fact = factories.proposal(
                made, text, about=f"customer:c{number}", key=f"fix:k{number}", agent=agent, now=came, distiller="local"
            )
            if days < 3 and place:
                continue
            person = rita if number % 3 else olga
            at = day - timedelta(hours=1) + timedelta(seconds=9 * place)
            if number % 6 == 0:
                reason = REASONS[(number // 6) % len(REASONS)]
                fact.reject(person, revision=fact.revision, now=at, reason=reason)
            else:
                # With an end far away: what was approved three months ago is live today.
                until = now + timedelta(days=200)
                fact.approve(person, revision=fact.revision, now=at, expires_at=until)
                live.append(fact)
    used(live, agents[0], now)
    for days in (2, 3, 16, 30, 44, 45, 71):
        at = now - timedelta(days=days)
        doubted = live[days % 5]
        if doubted.first_seen_at < at:
            Feedback.objects.create(
                project=made, fact=doubted, agent=agents[0], verdict=Verdict.MISLED, said_on=at.date(), at=at
            )
    for days in (5, 35, 60):
        ModelCall.objects.create(
            project=made,
            purpose="distill",
            provider="anthropic",
            model="claude",
            outcome="ok",
            input_tokens=90_000,
            output_tokens=9_000,
            cost_usd="3.80",
            at=now - timedelta(days=days),
        )


def used(live: list[Fact], agent: Agent, now: datetime) -> None:
    """The first few were told often, and some of them helped."""
    for place, (briefs, helped) in enumerate([(61, 34), (49, 31), (33, 21), (41, 12), (86, 0)]):
        fact = live[place]
        Fact.objects.filter(pk=fact.pk).update(helped_count=helped)
        BriefServed.objects.bulk_create(
            BriefServed(
                project_id=fact.project_id,
                agent=agent,
                etag=f"{place}-{number}",
                tokens=164 + 20 * place,
                budget=1200,
                fact_ids=[fact.pk],
                at=now - timedelta(days=number % 60, hours=1),
            )
            for number in range(briefs)
        )
