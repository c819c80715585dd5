"""Shapes that several calls of the agents' API share. A field nobody knows is refused, never ignored."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Schema
from pydantic import BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from memory import privacy, short_ids
from memory.api_errors import ApiError
from memory.models import BadSubject, Fact, Subject
from memory.models.subject import split
from memory.retrieval import day
from projects.models import Agent


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("number_expected", "This must be a number.")
    return value


# Python counts `true` as 1, and a brief of one token says nothing.
Whole = Annotated[int, BeforeValidator(_no_truth)]
Fraction = Annotated[float, BeforeValidator(_no_truth)]


class Body(Schema):
    """What a caller sends."""

    model_config = ConfigDict(extra="forbid")


def only(request: HttpRequest, query: type[Schema]) -> None:
    """Refuses a parameter of the address that the call does not know. Raises ApiError (422)."""
    for name in request.GET:
        if name not in query.model_fields:
            raise ApiError(422, "unknown_field", "This parameter is not known here.", name[:100])


class FactOut(Schema):
    """An approved fact as an agent may know it. No quote and no session: nobody countersigned those. Without
    `confirmed_on` a rule of the project approved it, and no person has read it yet."""

    id: str
    type: str
    key: str
    value: Any
    text: str
    subject: str
    standing: bool
    times_seen: int
    last_seen_on: date
    confirmed_on: date | None
    expires_at: datetime | None
    # "actionable", or "historical": it was so, and is told for the sake of its story.
    use: str


def fact_out(fact: Fact, zone: str) -> dict[str, Any]:
    return {
        "id": fact.short_id,
        "type": fact.type,
        "key": fact.key,
        "value": fact.value,
        "text": fact.text,
        "subject": str(fact.subject),
        "standing": fact.standing,
        "times_seen": fact.times_seen,
        "last_seen_on": day(fact.last_seen_at, zone),
        "confirmed_on": day(fact.confirmed_at, zone) if fact.confirmed_at else None,
        "expires_at": fact.expires_at,
        "use": fact.use,
    }


def halves(written: str, field: str = "subject") -> tuple[str, str]:
    """`customer:cust_123` as type and id. Raises ApiError (422)."""
    try:
        return split(written)
    except BadSubject as bad:
        raise ApiError(422, "bad_subject", str(bad), field) from None


def known_subject(agent: Agent, written: str) -> Subject | None:
    """The subject, if anything was ever known or heard of it. Asking about one does not make it."""
    return Subject.objects.find(agent.project_id, *halves(written))


def session_id(written: str | None) -> str | None:
    """A session's id as it is kept. Raises ApiError (422)."""
    if written is None:
        return None
    try:
        return privacy.clean_id(written)
    except privacy.BadIdentifier as bad:
        raise ApiError(422, "bad_session", str(bad), "session") from None


def cursor_pk(written: str | None) -> int | None:
    if written is None:
        return None
    pk = short_ids.decode(written)
    if pk is None:
        raise ApiError(422, "bad_cursor", "This is no cursor of ours. Start from the first page.", "cursor")
    return pk
