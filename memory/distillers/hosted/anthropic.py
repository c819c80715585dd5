"""Anthropic's Messages, through its own SDK: structured output by a tool that the model has to call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memory.distillers.hosted.calls import (
    ANSWER_SECONDS,
    CONNECT_SECONDS,
    Ask,
    Reply,
    Trouble,
    counted,
    ended,
    is_count,
    outcome_of,
    retry_after,
    since,
)

if TYPE_CHECKING:
    from anthropic.types import Message

Shape = Callable[[Ask], dict[str, Any]]


def _forced_tool(ask: Ask) -> dict[str, Any]:
    tool = {"name": ask.schema_name, "description": "Hands over the answer.", "input_schema": dict(ask.schema or {})}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": ask.schema_name}}


def _json_schema(ask: Ask) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": dict(ask.schema or {})}}}


def _plain(ask: Ask) -> dict[str, Any]:
    return {}


# Models that always think (Opus 5.5, Sonnet 5.5, Fable 5.1) refuse a forced tool; models before 4.5 know no schema.
SHAPES: tuple[Shape, ...] = (_forced_tool, _json_schema, _plain)
_ENDS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}
# Which shape a model of an address took, for this process: each refusal is asked for once.
_taken: dict[tuple[str, str], int] = {}


class AnthropicModel:
    """One model of Anthropic. Nothing is retried here: the job decides when to ask again."""

    provider = "anthropic"

    def __init__(self, model: str, *, key: str, base_url: str = "", seconds: float = ANSWER_SECONDS) -> None:
        self.model = model
        self._key, self._base_url, self._seconds = key, base_url, seconds

    def ask(self, ask: Ask) -> Reply:
        """Raises Trouble."""
        # Here and not above: the SDK takes a second to import, and most processes never call out.
        import anthropic
        import httpx2

        started = time.monotonic()
        messages: Any = [{"role": role, "content": text} for role, text in ask.turns]
        address = (self._base_url, self.model)
        shapes = SHAPES if ask.schema is not None else (_plain,)
        first = _taken.get(address, 0) if len(shapes) > 1 else 0
        client = anthropic.Anthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            max_retries=0,
            timeout=httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS),
            open_telemetry=False,
        )
        with client:
            for place in range(first, len(shapes)):
                try:
                    message = client.messages.create(
                        model=self.model,
                        max_tokens=ask.max_tokens,
                        system=ask.system,
                        messages=messages,
                        **shapes[place](ask),
                    )
                except anthropic.APITimeoutError:
                    raise Trouble("timeout", milliseconds=since(started)) from None
                except anthropic.APIStatusError as refused:
                    outcome = outcome_of(refused.status_code, f"{refused.type} {refused.message}")
                    if outcome == "bad_request" and place + 1 < len(shapes):
                        continue
                    wait = retry_after(refused.response.headers)
                    raise Trouble(outcome, wait, since(started)) from None
                # What is no JSON, or no HTTP, comes out of the SDKs as it is.
                except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RecursionError):
                    raise Trouble("unavailable", milliseconds=since(started)) from None
                if len(shapes) > 1:
                    _taken[address] = place
                return _reply(message, ask, since(started))
        raise AssertionError("the last shape either answers or raises")


def _reply(message: Message, ask: Ask, milliseconds: int) -> Reply:
    # A gateway may answer with anything: what is not there is read as nothing.
    blocks = getattr(message, "content", None)
    blocks = blocks if isinstance(blocks, list) else []
    given = [block.input for block in blocks if getattr(block, "type", "") == "tool_use"]
    words = [getattr(block, "text", None) for block in blocks if getattr(block, "type", "") == "text"]
    said = "".join(word for word in words if isinstance(word, str))
    text = json.dumps(given[0], ensure_ascii=False) if given else said
    usage = getattr(message, "usage", None)
    told: Any = getattr(usage, "input_tokens", None)
    if is_count(told):
        cached = [getattr(usage, f"cache_{kind}_input_tokens", 0) for kind in ("creation", "read")]
        told += sum(count for count in cached if is_count(count))
    return Reply(
        text,
        ended(getattr(message, "stop_reason", None), _ENDS),
        counted(told, ask.system, *(turn for _, turn in ask.turns)),
        counted(getattr(usage, "output_tokens", None), text),
        milliseconds,
    )
