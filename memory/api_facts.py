"""Facts as agents look them up, search and propose them. What a caller may read comes from its key alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import AwareDatetime, Field

from memory import api_limits, feedback, pauses, proposals, retrieval, short_ids
from memory.agent_auth import Bearer, Caller, caller
from memory.api_errors import ApiError, NotFound
from memory.api_values import Body, FactOut, Fraction, Whole, cursor_pk, fact_out, halves, known_subject, only
from projects import audit, tenancy

router = Router(tags=["facts"])
QUERY_LIMIT = 200_000
Written = Annotated[str, Field(min_length=1, max_length=400)]
Limit = Annotated[Whole, Field(ge=1, le=retrieval.PAGE_LIMIT)]


class Lookup(Body):
    key: Annotated[str, Field(max_length=400)] | None = None
    key_prefix: Annotated[str, Field(max_length=400)] | None = None
    subject: Written | None = None
    limit: Limit = 20
    cursor: Annotated[str, Field(max_length=40)] | None = None


class KeyQuery(Body):
    key: Annotated[str, Field(max_length=400)]
    limit: Limit = 20
    cursor: Annotated[str, Field(max_length=40)] | None = None


class FactsOut(Schema):
    """`paused`: nothing is told now, whatever is known."""

    items: list[FactOut]
    next_cursor: str | None
    paused: bool


class Search(Body):
    query: Annotated[str, Field(max_length=QUERY_LIMIT)]
    subject: Written | None = None
    types: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=50)] | None = None
    min_score: Annotated[Fraction, Field(ge=0, le=1, allow_inf_nan=False)] = retrieval.MIN_SCORE
    limit: Annotated[Whole, Field(ge=1, le=50)] = 5


class HitOut(FactOut):
    score: float
    priority: float
    why: str


class SearchOut(Schema):
    items: list[HitOut]
    paused: bool


class Proposal(Body):
    type: Annotated[str, Field(min_length=1, max_length=100)]
    key: Annotated[str, Field(min_length=1, max_length=2000)]
    value: Any
    text: Annotated[str, Field(max_length=QUERY_LIMIT)] | None = None
    subject: Written | None = None
    session: Annotated[str, Field(min_length=1, max_length=2100)] | None = None
    quote: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    scope: Literal["everyone"] | Annotated[list[str], Field(max_length=100)] | None = None
    expires_at: AwareDatetime | None = None


class ProposedOut(Schema):
    status: Literal["proposed", "counted", "rejected before"]
    id: str


class Said(Body):
    verdict: Literal["helped", "misled", "stale"]


class SaidOut(Schema):
    status: feedback.Given
    id: str


@router.post("/facts/lookup", response=FactsOut, auth=Bearer("brief"), summary="Facts by key or key prefix")
def look_up(request: HttpRequest, payload: Lookup) -> dict[str, Any]:
    """Exact key, a prefix of whole segments, or `type:*`; newest first. `%` and `_` stand for themselves."""
    if (payload.key is None) == (payload.key_prefix is None):
        raise ApiError(422, "missing_field", "Send either key or key_prefix.", "key")
    return _looked_up(caller(request), payload.key, payload.key_prefix, payload.subject, payload.limit, payload.cursor)


@router.get("/facts", response=FactsOut, auth=Bearer("brief"), summary="Facts by exact key")
def by_key(request: HttpRequest, query: Query[KeyQuery]) -> dict[str, Any]:
    """As the look-up by `key`, without a subject: that never stands in an address."""
    only(request, KeyQuery)
    return _looked_up(caller(request), query.key, None, None, query.limit, query.cursor)


def _looked_up(
    who: Caller, key: str | None, key_prefix: str | None, subject: str | None, limit: int, cursor: str | None
) -> dict[str, Any]:
    after = cursor_pk(cursor)
    with tenancy.project(who.project.pk):
        agent = pauses.as_it_stands(who.agent)
        is_paused = pauses.is_paused(agent)
        about = None
        if subject is not None:
            about = known_subject(agent, subject)
            if about is None:
                _audit(who, "facts.lookup", [])
                return {"items": [], "next_cursor": None, "paused": is_paused}
        page = retrieval.lookup(
            agent,
            subject=about,
            key=key,
            key_prefix=key_prefix,
            limit=limit,
            after=after,
            now=timezone.now(),
        )
        items = [fact_out(fact, who.project.timezone) for fact in page.facts]
        _audit(who, "facts.lookup", [fact.pk for fact in page.facts])
    cursor_out = short_ids.encode(page.next_after) if page.next_after else None
    return {"items": items, "next_cursor": cursor_out, "paused": is_paused}


@router.post("/facts/search", response=SearchOut, auth=Bearer("brief"), summary="Facts by meaning and words")
def search(request: HttpRequest, payload: Search) -> dict[str, Any]:
    """Hybrid search. `score` is the relevance that `min_score` works on; the order also weighs the words found."""
    who = caller(request)
    with tenancy.project(who.project.pk):
        agent = pauses.as_it_stands(who.agent)
        is_paused = pauses.is_paused(agent)
        about = None
        if payload.subject is not None:
            about = known_subject(agent, payload.subject)
            if about is None:
                _audit(who, "facts.search", [])
                return {"items": [], "paused": is_paused}
        hits = retrieval.search(
            agent,
            payload.query,
            subject=about,
            # No type holds an invisible character; Postgres refuses some of them.
            types=None if payload.types is None else [name for name in payload.types if name.isprintable()],
            min_score=payload.min_score,
            limit=payload.limit,
            now=timezone.now(),
        )
        items = [
            {
                **fact_out(hit.fact, who.project.timezone),
                "score": round(hit.score, 2),
                "priority": round(hit.priority, 2),
                "why": hit.why,
            }
            for hit in hits
        ]
        _audit(who, "facts.search", [hit.fact.pk for hit in hits])
    return {"items": items, "paused": is_paused}


@router.post("/facts", response={200: ProposedOut, 201: ProposedOut}, auth=Bearer("propose"), summary="Propose a fact")
def propose(request: HttpRequest, payload: Proposal) -> Status[dict[str, Any]]:
    """A person decides about it. 201: new; 200: counted on what is known, or refused by a person before."""
    who = caller(request)
    try:
        with tenancy.project(who.project.pk), transaction.atomic():
            placed = proposals.propose(
                who.agent,
                type=payload.type,
                key=payload.key,
                value=payload.value,
                text=payload.text,
                subject=halves(payload.subject) if payload.subject is not None else None,
                session=payload.session,
                quote=payload.quote,
                scope=payload.scope,
                expires_at=payload.expires_at,
                now=timezone.now(),
            )
    except proposals.BadProposal as bad:
        raise ApiError(422, bad.code, bad.message, bad.field) from None
    is_new = placed.outcome == "new"
    return Status(
        201 if is_new else 200, {"status": "proposed" if is_new else placed.outcome, "id": placed.fact.short_id}
    )


@router.get("/facts/{fact_id}", response=FactOut, auth=Bearer("brief"), summary="One fact")
def one(request: HttpRequest, fact_id: str) -> dict[str, Any]:
    """A fact this agent may see. One it may not see answers as one that never was."""
    who = caller(request)
    pk = short_ids.decode(fact_id)
    with tenancy.project(who.project.pk):
        agent = pauses.as_it_stands(who.agent)
        fact = retrieval.visible(agent, pk, timezone.now()) if pk is not None else None
        # Asking for what one may not see is written down as well, without saying what it was.
        _audit(who, "fact.read", [fact.pk] if fact is not None else [])
        found = fact_out(fact, who.project.timezone) if fact is not None else None
    if found is None:
        raise NotFound
    return found


@router.post(
    "/facts/{fact_id}/feedback",
    response={200: SaidOut, 202: SaidOut},
    auth=Bearer("brief"),
    summary="Say whether a fact helped",
)
def say(request: HttpRequest, fact_id: str, payload: Said) -> Status[dict[str, Any]]:
    """202: noted; 200: this agent said so today already. `misled` and `stale` bring it before a person."""
    who = caller(request)
    api_limits.take(who.key_id)
    pk = short_ids.decode(fact_id)
    given = None
    if pk is not None:
        with tenancy.project(who.project.pk):
            given = feedback.give(pauses.as_it_stands(who.agent), pk, payload.verdict, timezone.now())
    if given is None:
        raise NotFound
    return Status(202 if given == "noted" else 200, {"status": given, "id": fact_id})


def _audit(who: Caller, action: str, ids: list[int]) -> None:
    audit.record(action, who.agent, project_id=who.project.pk, object_kind="fact", object_ids=ids, now=timezone.now())
