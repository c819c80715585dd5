"""Everything that a pasted text or an id may stand for, in all projects of one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from memory.models import BadSubject, BriefServed, Session, Subject
from memory.models.subject import lookup_hmac, split
from memory.served import briefs_of
from projects.models import Agent, ApiKey, Membership
from review.finding import facts
from review.finding.asked import Asked
from review.finding.facts import Hit

SHOWN = 8
NAME_WORDS = 6


@dataclass(frozen=True)
class Found:
    """What was found, each list the best first. `alike` are memories that only read alike; `briefs` counts, by memory,
    in how many briefs each was."""

    facts: tuple[Hit, ...] = ()
    alike: tuple[Hit, ...] = ()
    subjects: tuple[Subject, ...] = ()
    sessions: tuple[Session, ...] = ()
    served: tuple[BriefServed, ...] = ()
    agents: tuple[Agent, ...] = ()
    keys: tuple[ApiKey, ...] = ()
    briefs: dict[int, int] | None = None

    @property
    def is_empty(self) -> bool:
        return not (
            *self.facts,
            *self.alike,
            *self.subjects,
            *self.sessions,
            *self.served,
            *self.agents,
            *self.keys,
        )


def find(memberships: Sequence[Membership], asked: Asked, now: datetime) -> Found:
    """About twelve queries, whatever was pasted."""
    projects = [membership.project_id for membership in memberships]
    if asked.is_empty or not projects:
        return Found()
    hits = facts.find(projects, [pk for prefix, pk in asked.ids if prefix == "f"], asked.sentences, now)
    # A name of seven words is a sentence; to look for it among names takes as long as the rest.
    is_name = len(asked.name.split()) <= NAME_WORDS
    fitting = tuple(hit for hit in hits if hit.fits)
    briefs: dict[int, int] = {}
    for project_id in {hit.fact.project_id for hit in hits}:
        briefs |= briefs_of(project_id, [hit.fact.pk for hit in hits if hit.fact.project_id == project_id])
    return Found(
        facts=fitting,
        alike=tuple(hit for hit in hits if not hit.fits),
        subjects=tuple(_subjects(projects, asked, asked.name if is_name else "")),
        sessions=tuple(_sessions(projects, asked, asked.name if is_name else "")),
        served=tuple(_briefs(projects, asked)),
        agents=tuple(_agents(projects, asked.name)),
        keys=tuple(_keys(projects, asked.key_prefix)),
        briefs=briefs,
    )


def _subjects(projects: Sequence[int], asked: Asked, name: str) -> Sequence[Subject]:
    """By its short id, by its own id, as `customer:cust_123` or bare, and by a part of its name."""
    of_projects = Subject.objects.filter(project__in=projects).select_related("project")
    pks = [pk for prefix, pk in asked.ids if prefix == "c"]
    exact = list(of_projects.filter(pk__in=pks)) if pks else []
    if len(name) < 2:
        return exact
    try:
        kind, ident = split(name)
    except BadSubject:
        hashes = []
    else:
        hashes = [lookup_hmac(project, kind, ident) for project in projects]
    exact += of_projects.filter(lookup_hmac__in=hashes).exclude(pk__in=pks)
    named = Q(label__icontains=name) | Q(entity_id__icontains=name)
    more = of_projects.filter(named).exclude(pk__in=[one.pk for one in exact])
    return [*exact, *more.order_by("-pk")[: max(0, SHOWN - len(exact))]]


def _sessions(projects: Sequence[int], asked: Asked, name: str) -> Sequence[Session]:
    named = Session.objects.filter(project__in=projects).select_related("project", "agent")
    pks = [pk for prefix, pk in asked.ids if prefix == "s"]
    found = list(named.filter(pk__in=pks)) if pks else []
    if len(name) < 3:
        return found
    agents = Agent.objects.filter(project__in=projects).values("pk")
    exact = named.filter(agent__in=agents, external_id=name).exclude(pk__in=pks).order_by("-pk")
    found += exact[:SHOWN]
    part = named.filter(external_id__icontains=name).exclude(pk__in=[one.pk for one in found])
    return [*found, *part.order_by("-last_seen_at", "-pk")[: max(0, SHOWN - len(found))]]


def _briefs(projects: Sequence[int], asked: Asked) -> Sequence[BriefServed]:
    pks = [pk for prefix, pk in asked.ids if prefix == "b"]
    if not pks:
        return ()
    found = BriefServed.objects.filter(project__in=projects, pk__in=pks).select_related("project", "agent")
    return list(found.order_by("-pk")[:SHOWN])


def _agents(projects: Sequence[int], name: str) -> Sequence[Agent]:
    if not name:
        return ()
    return list(Agent.objects.filter(project__in=projects, slug=name.lower()).select_related("project")[:SHOWN])


def _keys(projects: Sequence[int], prefix: str) -> Sequence[ApiKey]:
    """By the part of a key that anybody may see: somebody found one where it does not belong."""
    if not prefix:
        return ()
    return list(ApiKey.objects.filter(project__in=projects, prefix=prefix).select_related("project", "agent", "person"))
