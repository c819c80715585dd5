"""Plain functions that make rows, with defaults a test may override. One cast for all tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.contrib.auth.hashers import get_hasher, make_password
from django.utils import timezone

from memory.models import Evidence, Fact, Observation, Session, Subject, quote_hash
from projects import tenancy
from projects.models import Agent, ApiKey, Membership, Person, Project, Role

PASSWORD = "a ruled line to sign"


@dataclass
class Cast:
    """Rita reviews, Olga owns, Vera views, Carl handles compliance, Sam is a stranger with a project of his own."""

    project: Project
    other: Project
    rita: Person
    olga: Person
    vera: Person
    carl: Person
    sam: Person
    support: Agent
    sales: Agent
    coder: Agent
    foreign: Agent
    keys: dict[str, str]


@cache
def _encoded(_algorithm: str) -> str:
    """The password as it is stored, made once: the product's own hash takes most of a second."""
    return make_password(PASSWORD)


def person(email: str, **fields: Any) -> Person:
    name = fields.pop("name", email.split("@")[0].title())
    return Person.objects.create(email=email.lower(), name=name, password=_encoded(get_hasher().algorithm), **fields)


def member(project: Project, person: Person, role: str = Role.REVIEWER) -> Membership:
    """Somebody who has been through the practice cards already."""
    return Membership.objects.create(project=project, person=person, role=role, practised_at=timezone.now())


def cast() -> Cast:
    """In a few statements: nearly every test asks for it."""
    with tenancy.system("command"):
        project, other = Project.objects.bulk_create(
            [Project(slug="shop", name="Shop"), Project(slug="depot", name="Depot")]
        )
        names = ("rita", "olga", "vera", "sam", "carl")
        known: dict[str, Any] = {"password": _encoded(get_hasher().algorithm)}
        made = [
            Person(email=f"{name}@example.com", name=name.title(), is_compliance=name == "carl", **known)
            for name in names
        ]
        people = dict(zip(names, Person.objects.bulk_create(made), strict=True))
        roles = {"rita": Role.REVIEWER, "olga": Role.OWNER, "vera": Role.VIEWER}
        members = [Membership(project=project, person=people[name], role=role) for name, role in roles.items()]
        members.append(Membership(project=other, person=people["sam"], role=Role.OWNER))
        for one in members:
            one.practised_at = timezone.now()
        Membership.objects.bulk_create(members)
        slugs = ("support", "sales", "claude-code")
        rows = [*(Agent(project=project, slug=slug) for slug in slugs), Agent(project=other, slug="support")]
        agents = dict(zip((*slugs, "foreign"), Agent.objects.bulk_create(rows), strict=True))
        keys = {slug: ApiKey.objects.issue(agent, people["olga"])[1] for slug, agent in agents.items()}
    return Cast(
        project=project,
        other=other,
        support=agents["support"],
        sales=agents["sales"],
        coder=agents["claude-code"],
        foreign=agents["foreign"],
        keys=keys,
        **people,
    )


def subject(project: Project, written: str = "customer:cust_123") -> Subject:
    kind, _, ident = written.partition(":")
    return Subject.objects.resolve(project.pk, kind, ident)


def session(agent: Agent, external_id: str = "call-1", *, now: datetime | None = None, **fields: Any) -> Session:
    now = now or timezone.now()
    return Session.objects.create(
        project_id=agent.project_id,
        agent=agent,
        external_id=external_id,
        first_seen_at=fields.pop("first_seen_at", now),
        last_seen_at=fields.pop("last_seen_at", now),
        **fields,
    )


def observation(
    session: Session, text: str, *, kind: str = "message", role: str = "user", **fields: Any
) -> Observation:
    now = fields.pop("now", timezone.now())
    seq = fields.pop("seq", session.observation_count + 1)
    row = Observation.objects.create(
        project_id=session.project_id,
        session=session,
        seq=seq,
        kind=kind,
        role=role,
        text=text,
        original_length=len(text),
        occurred_at=fields.pop("occurred_at", now),
        occurred_source="server",
        received_at=now,
        **fields,
    )
    session.observation_count += 1
    session.save(update_fields=["observation_count"])
    return row


def proposal(
    project: Project,
    text: str = "Prefers e-mail, in the morning.",
    *,
    about: str = "customer:cust_123",
    key: str = "user_preference:contact_channel",
    value: Any = None,
    type: str | None = None,
    agent: Agent | None = None,
    quote: Observation | None = None,
    now: datetime | None = None,
    **fields: Any,
) -> Fact:
    """A proposed fact; with `quote`, that whole observation is its evidence."""
    fact, _ = Fact.propose(
        subject=subject(project, about),
        type=type or key.partition(":")[0],
        key=key,
        value=text if value is None else value,
        text=text,
        source=fields.pop("source", "extraction"),
        agent=agent,
        now=now or timezone.now(),
        **fields,
    )
    if quote is not None:
        Evidence.objects.create(
            project_id=project.pk,
            fact=fact,
            observation=quote,
            start=0,
            end=len(quote.text),
            quote=quote.text,
            sha256=quote_hash(quote.text),
            checked_at=now or timezone.now(),
        )
    return fact


def approved(project: Project, by: Person, text: str = "Prefers e-mail, in the morning.", **fields: Any) -> Fact:
    now = fields.get("now") or timezone.now()
    fact = proposal(project, text, **fields)
    fact.approve(by, revision=fact.revision, now=now)
    return fact
