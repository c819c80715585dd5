"""Sessions as agents send them: observations in, and the end of a session."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from ninja import Router, Schema

from memory import api_limits, api_observations, api_transcripts, capture, distillation, privacy
from memory.agent_auth import Bearer, caller
from memory.api_body import json_object
from memory.api_errors import ErrorAnswer, NotFound, Unavailable
from memory.models import Session
from projects import tenancy

router = Router(tags=["sessions"])

REFUSALS: dict[Any, Any] = dict.fromkeys((401, 403, 404, 413, 415, 422, 429, 503), ErrorAnswer)


class ErrorAt(Schema):
    index: int
    code: str


class Received(Schema):
    accepted: int
    duplicates: int
    dropped: dict[str, int]
    errors: list[ErrorAt]


class Ending(Schema):
    status: str


@router.post(
    "/sessions/{path:external_id}/observations",
    auth=Bearer("capture"),
    response={202: Received, **REFUSALS},
    summary="Send what happened",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": api_observations.SCHEMA}}}
    },
)
def observations(request: HttpRequest, external_id: str) -> HttpResponse:
    """Accepted means committed. Received = accepted + duplicates + dropped. 503 means not promised: send it again."""
    who = caller(request)
    api_limits.take(who.key_id)
    batch = api_observations.batch_of(json_object(request), who.agent, who.person, external_id, timezone.now())
    try:
        receipt = capture.commit(batch)
    except capture.NotInTime:
        raise Unavailable from None
    return JsonResponse(receipt, status=202)


@router.post(
    "/sessions/{path:external_id}/transcript",
    auth=Bearer("capture"),
    response={202: Received, **REFUSALS},
    summary="Send a transcript, or the talk so far",
    openapi_extra={"requestBody": {"required": True, "content": api_transcripts.CONTENT}},
)
def transcript(request: HttpRequest, external_id: str) -> HttpResponse:
    """What an importer reads, or `{"messages": […]}` without ids, sent again whole with every turn: what is known is
    counted as duplicate. The books are those of observations; what becomes none is in `dropped` by its reason."""
    who = caller(request)
    api_limits.take(who.key_id)
    sent = api_transcripts.Transcript(request.body, who.agent, who.person, external_id, timezone.now())
    try:
        receipt = capture.commit(sent.batch)
    except capture.NotInTime:
        raise Unavailable from None
    return JsonResponse(sent.answer(receipt), status=202)


@router.post(
    "/sessions/{path:external_id}/end",
    auth=Bearer("capture"),
    response={202: Ending, **REFUSALS},
    summary="End a session",
)
def end(request: HttpRequest, external_id: str) -> HttpResponse:
    """The session is read now, without waiting until it is idle. More observations open it again."""
    who = caller(request)
    api_limits.take(who.key_id)
    try:
        external_id = privacy.clean_id(external_id)
    except privacy.BadIdentifier:
        raise NotFound from None
    with tenancy.project(who.project.pk):
        session = Session.objects.filter(agent=who.agent, external_id=external_id).order_by("pk").first()
        if session is None:
            raise NotFound
        distillation.request(session, timezone.now())
    return JsonResponse({"status": "queued"}, status=202)
