"""The sample project of `up --demo`: sample talks go through capture and distillation like anybody's, and Rita decides.

Everything carries the time at which it would have happened. Loading it again adds nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from memory import brief, capture, demo, distillation, expiry
from memory.demo import DemoSession
from memory.models import Fact, Session, Status, Subject
from memory.models.subject import split
from projects import tenancy
from projects.first_visitor import ALPHABET
from projects.models import Agent, Membership, Person, Project, Role
from review.deciding import decisions, remembering

SLUG = "shop"
AGENTS = ("support", "sales", "claude-code")
DECIDES_AFTER = timedelta(hours=2)
BRIEF_TOKENS = 1200


class NotTheSample(Exception):
    """The installation has a project of the sample's name that is somebody's own."""


class SampleIncomplete(Exception):
    """A talk did not teach what a step of the sample decides about: the sample and the distiller do not fit."""


@dataclass(frozen=True, slots=True)
class Login:
    """Somebody to sign in as. `password` is empty when they chose another one since."""

    email: str
    password: str
    does: str


@dataclass(frozen=True, slots=True)
class Step:
    """What Rita does with the memory that holds `words`, once it was proposed."""

    words: str
    verb: str = "approve"
    form: dict[str, Any] = field(default_factory=dict)
    only: str = ""  # the one agent that gets it


STEPS = (
    Step("Leeds is active"),
    Step("port 5433"),
    Step("Use uv instead of pip"),
    Step("emojis in commit messages"),
    Step("60 days to pay", only="sales"),
    Step("lives in Leeds", only="sales"),
    Step("/app/refunds/"),
    Step("will send the offer", "reject", {"reason": "dated"}),
)
# (session, what its agent is about to do): each is told what is known before it begins.
BRIEFED = {
    "warehouse-moved": "",
    "refund-asked-again": "",
    "6b027f92-7126-5dfe-aa56-4264d6fe99d9": "add an index to the orders table; the tests need Postgres on its port",
}


def load(now: datetime) -> list[Login]:
    """The people of the sample, with their passwords. All of it is loaded, or nothing. Raises NotTheSample."""
    with tenancy.system("command"):
        project = Project.objects.filter(slug=SLUG).first()
        if project is None:
            project = _found(now)
            _play(project, now)
        elif not Membership.objects.filter(project=project, person__email="rita@example.com").exists():
            raise NotTheSample(
                f"This installation has a project {SLUG} of its own, so the sample was not loaded. "
                "Start without --demo, or with another data folder: --data DIR"
            )
        return _logins()


def _found(now: datetime) -> Project:
    project = Project.objects.create(slug=SLUG, name="Shop")
    for slug in AGENTS:
        Agent.objects.create(project=project, slug=slug)
    for name, role, flags in (("Rita", Role.REVIEWER, {}), ("Olga", Role.OWNER, {"is_operator": True})):
        email = f"{name.lower()}@example.com"
        person = Person.objects.filter(email=email).first() or Person.objects.create_person(
            email, name=name, password=_password(), **flags
        )
        # Whoever looks at the sample wants to see its pile, not to practise.
        Membership.objects.create(project=project, person=person, role=role, practised_at=now)
    return project


def _play(project: Project, now: datetime) -> None:
    """The talks in the order in which they took place, and after each what people did."""
    agents = {agent.slug: agent for agent in Agent.objects.filter(project=project)}
    rita = Membership.objects.get(project=project, person__email="rita@example.com")
    talks = demo.sessions(now)
    _write_by_hand(project, _first_word(talks[0]))
    open_steps = list(STEPS)
    for talk in talks:
        _tell(agents[talk.agent], talk)
        then = _read(agents[talk.agent], talk, now)
        for step in list(open_steps):
            fact = _proposed(project, step.words)
            if fact is None:
                continue
            only = {"everyone": False, "agent_ids": [agents[step.only].pk]} if step.only else {}
            decisions.decide(rita, fact, step.verb, fact.revision, step.form | only, min(then + DECIDES_AFTER, now))
            open_steps.remove(step)
    if open_steps:
        raise SampleIncomplete(f"Nothing was proposed that says “{open_steps[0].words}”.")
    expiry.expire(now)


def _tell(agent: Agent, talk: DemoSession) -> None:
    """Before the talk begins, its agent fetches a brief."""
    if talk.external_id in BRIEFED:
        brief.serve(
            agent,
            subjects=[split(written) for written in talk.subjects],
            task=BRIEFED[talk.external_id] or None,
            max_tokens=BRIEF_TOKENS,
            now=_first_word(talk),
        )


def _write_by_hand(project: Project, now: datetime) -> None:
    """What no talk taught and everybody should know: Olga writes it, and signs it by writing it."""
    remembering.remember(
        Membership.objects.get(project=project, person__email="olga@example.com"),
        subject=Subject.objects.of_project(project),
        type="choice",
        key="choice:refunds.release",
        value={"above": 200, "currency": "EUR", "released_by": "manager"},
        text="Refunds above 200 EUR need a manager's release.",
        everyone=True,
        agent_ids=[],
        now=now,
    )


def _first_word(talk: DemoSession) -> datetime:
    return min(one.occurred_at for one in talk.incoming.observations if one.occurred_at)


def _read(agent: Agent, talk: DemoSession, now: datetime) -> datetime:
    """Capture and distillation as they run for everybody. Returns when the session was read."""
    talk.incoming.subjects = list(talk.subjects)
    person = Person.objects.filter(email=talk.person).first() if talk.person else None
    ended = max(one.occurred_at for one in talk.incoming.observations if one.occurred_at)
    capture.import_session(agent, talk.incoming, person, ended)
    session = Session.objects.get(agent=agent, external_id=talk.external_id)
    then = min(ended + timedelta(minutes=agent.project.idle_minutes), now)
    job = distillation.request(session, then, ring=False)
    if job is not None:
        distillation.run(job.pk, then)
    return then


def _proposed(project: Project, words: str) -> Fact | None:
    return Fact.objects.filter(project=project, status=Status.PROPOSED, text__contains=words).order_by("pk").first()


def _logins() -> list[Login]:
    found = []
    for name, does in (("rita", "reviews"), ("olga", "owns the project")):
        person = Person.objects.filter(email=f"{name}@example.com").first()
        if person is not None:
            password = _password() if person.check_password(_password()) else ""
            found.append(Login(person.email, password, does))
    return found


def _password() -> str:
    """The same for as long as the data folder lives, and another one in every other: nothing to store, no default."""
    digest = hmac.new(settings.LOOKUP_KEY, b"sample password", hashlib.sha256).digest()
    letters = [ALPHABET[byte % len(ALPHABET)] for byte in digest[:12]]
    return "-".join("".join(letters[start : start + 4]) for start in (0, 4, 8))
