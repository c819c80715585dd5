"""Session memory over the wire: an agent's own running session, handed back to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema

from memory import pauses, privacy, session_memory
from memory.agent_auth import Bearer, caller
from memory.api_briefs import MaxTokens
from memory.api_errors import NotFound
from memory.api_values import Body, only
from memory.tokens import TOKENIZER
from projects import tenancy

router = Router(tags=["sessions"])
BUDGET = 1_000


class ContextQuery(Body):
    max_tokens: MaxTokens = BUDGET


class ContextOut(Schema):
    """`text` is what a model reads; nobody reviewed a word of it. An empty one says `why`."""

    session: str
    text: str
    unreviewed: Literal[True]
    why: Literal["", "paused", "expired", "withheld", "nothing said", "did not fit"]
    turns: int
    turns_left_out: int
    summary_by: str
    last_word_at: datetime | None
    ends_at: datetime | None
    tokens: int
    tokenizer: str
    budget: int


@router.get(
    "/sessions/{path:external_id}/context",
    response=ContextOut,
    auth=Bearer("brief"),
    summary="What was said in a session so far",
)
def context(request: HttpRequest, external_id: str, query: Query[ContextQuery]) -> dict[str, Any]:
    """A rolling summary and the last turns that fit, for the agent whose session it is, until 48 hours after its last
    word. Not reviewed, so no memory."""
    only(request, ContextQuery)
    who = caller(request)
    try:
        external_id = privacy.clean_id(external_id)
    except privacy.BadIdentifier:
        raise NotFound from None
    with tenancy.project(who.project.pk):
        agent = pauses.as_it_stands(who.agent)
        found = session_memory.hand_back(agent, external_id, query.max_tokens, timezone.now())
    if found is None:
        raise NotFound
    return {
        "session": external_id,
        "text": found.text,
        "unreviewed": True,
        "why": found.why,
        "turns": found.turns,
        "turns_left_out": found.turns_left_out,
        "summary_by": found.summary_by,
        "last_word_at": found.last_word_at,
        "ends_at": found.ends_at,
        "tokens": found.tokens,
        "tokenizer": TOKENIZER,
        "budget": query.max_tokens,
    }
