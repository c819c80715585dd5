"""Every payload in every field that an agent, or a person, fills; and the same project with harmless words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memory import existing, memories_in, short_ids
from memory.models import (
    BriefServed,
    DistillJob,
    Evidence,
    Fact,
    Feedback,
    ModelCall,
    Subject,
    Suppression,
    quote_hash,
)
from memory.models.subject import lookup_hmac
from projects.models import Agent, AgentConfig, ApiKey, Invitation, Membership, Person, Project, Role
from review.models.assignment import Assignment
from review.models.saved_view import SavedView
from tests import factories
from tests.browser.payloads import PAYLOADS

NOW = timezone.now()
Addresses = dict[str, list[str]]


def storable(payload: str) -> str:
    """As Postgres can hold it: no NUL, no half of a pair."""
    return payload.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def hostile(slug: str, rita: Person, change: Callable[[str], str] = str) -> dict[str, Any]:
    """The project, and the addresses of what was made, by the route they stand for; `key` is an agent's."""
    texts = [change(storable(payload)) for payload in PAYLOADS]
    named = factories.person(f"{slug}@example.com", name=texts[0][:100], is_operator=True)
    made = Project.objects.create(
        slug=slug,
        name=texts[12][:100],
        types={"odd": {"words": texts[11][:40], "lifetime_days": 60}},
    )
    Membership.objects.create(project=made, person=rita, role=Role.OWNER)
    Membership.objects.create(project=made, person=named, role=Role.REVIEWER)
    support, sales = (Agent.objects.create(project=made, slug=one) for one in ("support", "sales"))
    _key, secret = ApiKey.objects.issue(support, named)
    found: Addresses = {"facts/<str:short_id>": [], "p/<slug:slug>/review": [], "sessions/<str:short_id>": []}
    one = factories.session(support, "all of it", now=NOW, cwd=texts[3][:500])
    facts = []
    for number, text in enumerate(texts):
        fact, session = _proposal(made, support, number, text)
        facts.append(fact)
        found["p/<slug:slug>/review"].append(f"/p/{slug}/review?card={fact.short_id}&proof=open")
        found["facts/<str:short_id>"].append(f"/facts/{fact.short_id}")
        call = {"tool": text[:200], "call_id": f"c{number}"}
        factories.observation(one, text, kind="tool_call", role="assistant", paths=[text[:500]], **call)
        factories.observation(one, text, kind="tool_result", role="tool", exit_code=number % 2, **call)
    found["sessions/<str:short_id>"] += [f"/sessions/{short_ids.encode(talk.pk, 's')}" for talk in (one, session)]
    _decided(made, named, support, sales, facts, texts, found, one)
    _besides(made, rita, named, support, facts, texts, found)
    subjects = Subject.objects.filter(project=made).order_by("pk").values_list("pk", flat=True)
    found["p/<slug:slug>/subjects/<str:short_id>"] = [
        f"/p/{slug}/subjects/{short_ids.encode(pk, 'c')}" for pk in subjects[1:30:7]
    ]
    _invitation, token = Invitation.objects.invite(made, f"{slug}-new@example.com", Role.VIEWER, named, NOW)
    found["invitation/<str:token>"] = [f"/invitation/{token}"]
    return {"slug": slug, "addresses": found, "key": secret}


def _proposal(made: Project, support: Agent, number: int, text: str) -> tuple[Fact, Any]:
    talk = factories.session(support, f"{text[:400]} {number}", now=NOW)
    factories.observation(talk, text, role="assistant")
    row = factories.observation(talk, text)
    subject = Subject.objects.create(
        project=made,
        entity_type="customer",
        entity_id=f"{text[:200]} {number}",
        label=text[:110],
        lookup_hmac=lookup_hmac(made.pk, "customer", f"hostile-{number}"),
    )
    talk.subjects.add(subject, through_defaults={"project": made})
    value = text if number % 2 else {text[:60] or "x": text, "list": [text]}
    fact, _ = Fact.propose(
        subject=subject,
        type="note",
        key=f"note:{text[:200]}.{number}",
        value=value,
        text=text[:1900],
        source="extraction",
        distiller=text[:40],
        agent=support,
        now=NOW,
    )
    Evidence.objects.create(
        project_id=made.pk,
        fact=fact,
        observation=row,
        start=0,
        end=len(text),
        quote=text,
        before=text[:100],
        after=text[:100],
        sha256=quote_hash(text),
        checked_at=NOW,
    )
    return fact, talk


def _decided(
    made: Project,
    named: Person,
    support: Agent,
    sales: Agent,
    facts: list[Fact],
    texts: list[str],
    found: Addresses,
    one: Any,
) -> None:
    """Approved, changed, in conflict, refused, complained of, and served."""
    about = {"agent": support, "about": "customer:known"}
    known = factories.proposal(made, texts[9], key="note:known", **about)
    known.approve(named, revision=known.revision, now=NOW)
    known.edit(named, revision=known.revision, now=NOW, text=f"{texts[1][:500]} edited")
    against = factories.proposal(made, texts[13][:1900], key="note:against", **about)
    Fact.objects.filter(pk=against.pk).update(relation="conflicts", related=known)
    same = factories.proposal(made, texts[14][:1900], key="note:same", **about)
    Fact.objects.filter(pk=same.pk).update(relation="same_thing", related=known)
    old = factories.proposal(made, texts[2][:1900], key="environment:x", **about)
    old.approve(named, revision=old.revision, now=NOW)
    newer = factories.proposal(made, texts[4][:1900], key="environment:x", **about)
    refused = factories.proposal(made, texts[10], about="customer:refused", agent=support)
    refused.reject(named, revision=refused.revision, now=NOW, reason="other", note=texts[12][:500])
    Suppression.objects.create(project=made, fact=refused, session=one, text=texts[15][:1000], similarity=0.9, at=NOW)
    long_ago = NOW - timedelta(days=200)
    doubted = factories.approved(made, named, texts[5][:1900], key="choice:x", agent=support, now=long_ago)
    Fact.objects.filter(pk=doubted.pk).update(review_due_at=NOW)
    Feedback.objects.create(project=made, fact=doubted, agent=sales, verdict="misled", at=NOW, said_on=NOW.date())
    found["p/<slug:slug>/review"] += [
        f"/p/{made.slug}/review?card={fact.short_id}" for fact in (against, same, newer, doubted)
    ]
    found["facts/<str:short_id>"] += [f"/facts/{fact.short_id}" for fact in (known, old, refused, doubted)]
    served = BriefServed.objects.create(
        project=made,
        agent=support,
        session=one,
        etag="0" * 64,
        fact_ids=[known.pk, doubted.pk],
        items=[{"id": known.pk, "why": "about the subject", "tokens": 5, "score": 0.5}],
        left_out=[{"id": refused.pk, "why": "below the floor"}],
        text="\n".join(f"- [{known.short_id}] {text}" for text in texts),
        tokens=5000,
        budget=6000,
        task=texts[20][:500],
        at=NOW,
    )
    found["briefs/<str:short_id>"] = [f"/briefs/{short_ids.encode(served.pk, 'b')}"]
    assert facts


def _besides(
    made: Project,
    rita: Person,
    named: Person,
    support: Agent,
    facts: list[Fact],
    texts: list[str],
    found: Addresses,
) -> None:
    """What people write themselves: notes, names of views, system memory, files; and what a provider answered."""
    Assignment.objects.create(project=made, fact=facts[0], person=rita, assigned_by=named, note=texts[16][:500], at=NOW)
    for number, text in enumerate(texts[:12]):
        SavedView.objects.create(
            project=made, person=None, page="memory", name=f"{text[:50]}{number}", query="view=all"
        )
    AgentConfig.objects.create(
        project=made,
        agent=support,
        version=1,
        content={text[:40] or "x": text for text in texts[:20]},
        note=texts[17][:200],
        created_by=named,
        created_at=NOW,
        deployed_at=NOW,
    )
    session = factories.session(support, f"{texts[6][:100]} unread", now=NOW, status="failed")
    job = DistillJob.objects.create(
        project_id=made.pk,
        session=session,
        through=1,
        input_hash="1" * 64,
        distiller="anthropic:claude-haiku-5-5",
        status="failed",
        error="unusable",
        attempts=3,
        raw_reply="\n".join(texts),
    )
    ModelCall.objects.create(
        project_id=made.pk,
        job=job,
        purpose="distill",
        provider="anthropic",
        model=texts[18][:40],
        outcome="unusable",
        at=NOW,
    )
    # Four to a line: each line is compared with all there is, which takes long.
    fours = [" ".join(text[:300] for text in texts[first : first + 4]) for first in range(0, len(texts), 4)]
    lines = "".join(json.dumps({"text": f"{number} {text}"}) + "\n" for number, text in enumerate(fours))
    name = f"{texts[7][:60].replace('/', '∕')}.jsonl"
    brought = memories_in.bring_in(made, existing.read("old.jsonl", lines.encode()), person=rita, now=NOW)
    if brought.session is not None:
        type(brought.session).objects.filter(pk=brought.session.pk).update(external_id=f"{name} {made.slug}")
        found["imports/<str:short_id>"] = [f"/imports/{short_ids.encode(brought.session.pk, 's')}"]
