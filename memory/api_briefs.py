"""The brief as agents fetch it: one transaction, one answer, one row that says what was told."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import date
from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from memory import brief, short_ids
from memory.agent_auth import Bearer, caller
from memory.api_values import Body, Whole, halves, only, session_id
from memory.tokens import TOKENIZER
from projects import tenancy

router = Router(tags=["brief"])
MOST_TOKENS = 100_000
TASK_LIMIT = 200_000
_ETAGS = re.compile(r'(?:W/)?"([0-9a-f]{64})"')
MaxTokens = Annotated[Whole, Field(ge=0, le=MOST_TOKENS)]
SessionId = Annotated[str, Field(min_length=1, max_length=2100)]


class BriefRequest(Body):
    session: SessionId | None = None
    subjects: Annotated[list[Annotated[str, Field(min_length=1, max_length=400)]], Field(max_length=20)] = []
    task: Annotated[str, Field(max_length=TASK_LIMIT)] | None = None
    max_tokens: MaxTokens | None = None
    known_etag: Annotated[str, Field(max_length=100)] | None = None


class BriefQuery(Body):
    session: SessionId | None = None
    max_tokens: MaxTokens | None = None


class ItemOut(Schema):
    id: str
    type: str
    key: str
    value: Any
    text: str
    score: float
    why: str
    tokens: int
    times_seen: int
    last_seen_on: date


class DroppedOut(Schema):
    id: str
    why: str


class BriefOut(Schema):
    """`text` is what a model reads; `items` the same facts as data."""

    brief_id: str
    url: str
    etag: str
    text: str
    items: list[ItemOut]
    runbooks: list[dict[str, Any]]
    system: dict[str, Any] | None
    tokens: int
    tokenizer: str
    budget: int
    dropped: list[DroppedOut]
    retracted: list[str]
    paused: bool
    capture_dropped: int


class UnchangedOut(Schema):
    unchanged: Literal[True]
    etag: str


@router.post(
    "/briefs", response={200: BriefOut | UnchangedOut}, auth=Bearer("brief"), summary="What to know before the work"
)
def briefs(request: HttpRequest, payload: BriefRequest) -> HttpResponse:
    """Approved facts for this agent within `max_tokens`; with `known_etag` of the last one, "unchanged" if so."""
    subjects = [halves(written, f"subjects.{number}") for number, written in enumerate(payload.subjects)]
    known = {payload.known_etag.strip('"')} if payload.known_etag else set()
    at = _address(request)
    served = _serve(request, payload.session, subjects, payload.task, payload.max_tokens, known)
    if served.unchanged:
        return _json({"unchanged": True, "etag": served.etag})
    return _json(_answer(at, served))


@router.get(
    "/brief", response={200: BriefOut, 304: None}, auth=Bearer("brief"), summary="The brief, for a conditional request"
)
def conditional(request: HttpRequest, query: Query[BriefQuery]) -> HttpResponse:
    """The same brief without a task. `If-None-Match` with the last ETag answers 304 while nothing changed."""
    only(request, BriefQuery)
    known = frozenset(_ETAGS.findall(request.META.get("HTTP_IF_NONE_MATCH", "")[:2000]))
    at = _address(request)
    served = _serve(request, query.session, [], None, query.max_tokens, known)
    response = HttpResponse(status=304) if served.unchanged else _json(_answer(at, served))
    response["ETag"] = f'"{served.etag}"'
    return response


def _serve(
    request: HttpRequest,
    session: str | None,
    subjects: list[tuple[str, str]],
    task: str | None,
    max_tokens: int | None,
    known: Collection[str],
) -> brief.Brief:
    who = caller(request)
    external_id = session_id(session)
    with tenancy.project(who.project.pk):
        return brief.serve(
            who.agent,
            session=external_id,
            subjects=subjects,
            task=task,
            max_tokens=who.project.brief_budget_tokens if max_tokens is None else max_tokens,
            known_etags=known,
            person=who.person,
            now=timezone.now(),
        )


def _address(request: HttpRequest) -> str:
    """Where people open this installation. Asked for before a brief is served; raises DisallowedHost."""
    return settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")


def _answer(at: str, served: brief.Brief) -> dict[str, Any]:
    brief_id = short_ids.encode(served.served_pk or 0, "b")
    return {
        "brief_id": brief_id,
        "url": f"{at}/briefs/{brief_id}",
        "etag": served.etag,
        "text": served.text,
        "items": [item._asdict() for item in served.items],
        "runbooks": [],
        "system": served.system,
        "tokens": served.tokens,
        "tokenizer": TOKENIZER,
        "budget": served.budget,
        "dropped": [one._asdict() for one in served.dropped],
        "retracted": list(served.retracted),
        "paused": served.paused,
        "capture_dropped": served.capture_dropped,
    }


def _json(body: dict[str, Any]) -> HttpResponse:
    # Straight to bytes: the shape is ours already, checking it a second time took longer than building it.
    return HttpResponse(json.dumps(body, ensure_ascii=False, allow_nan=False), content_type="application/json")
