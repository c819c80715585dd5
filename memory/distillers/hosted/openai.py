"""OpenAI's chat completions, and every server that speaks their language, through OpenAI's own SDK."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from memory.distillers.hosted.calls import (
    ANSWER_SECONDS,
    CONNECT_SECONDS,
    Ask,
    Reply,
    Trouble,
    counted,
    ended,
    outcome_of,
    retry_after,
    since,
)

Shape = Callable[[Ask], dict[str, Any]]


def _json_schema(ask: Ask) -> dict[str, Any]:
    schema = {"name": ask.schema_name, "strict": True, "schema": dict(ask.schema or {})}
    return {
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_completion_tokens": ask.max_tokens,
    }


def _json_object(ask: Ask) -> dict[str, Any]:
    return {"response_format": {"type": "json_object"}, "max_tokens": ask.max_tokens}


def _plain(ask: Ask) -> dict[str, Any]:
    return {"max_tokens": ask.max_tokens}


def _talk(ask: Ask) -> dict[str, Any]:
    return {"max_completion_tokens": ask.max_tokens}


# Servers that only speak the language know less of it: `json_object`, or no format at all; and the older field.
SHAPES: tuple[Shape, ...] = (_json_schema, _json_object, _plain)
WORDS: tuple[Shape, ...] = (_talk, _plain)
# Which shape a model of an address took, for this process: each refusal is asked for once.
_taken: dict[tuple[str, str, bool], int] = {}


class OpenAIModel:
    """One model of OpenAI or of a compatible server. Nothing is retried here: the job decides when to ask again."""

    provider = "openai"

    def __init__(self, model: str, *, key: str, base_url: str = "", seconds: float = ANSWER_SECONDS) -> None:
        self.model = model
        self._key, self._base_url, self._seconds = key, base_url, seconds

    def ask(self, ask: Ask) -> Reply:
        """Raises Trouble."""
        # Here and not above: most processes never call out.
        import httpx2
        import openai

        started = time.monotonic()
        said = (("system", ask.system), *ask.turns)
        messages: Any = [{"role": role, "content": text} for role, text in said]
        shapes = SHAPES if ask.schema is not None else WORDS
        address = (self._base_url, self.model, ask.schema is not None)
        client = openai.OpenAI(
            # A server of one's own often wants no key; the SDK wants one.
            api_key=self._key or "none",
            base_url=self._base_url or None,
            max_retries=0,
            timeout=httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS),
        )
        with client:
            for place in range(_taken.get(address, 0), len(shapes)):
                try:
                    completion = client.chat.completions.create(
                        model=self.model,
                        messages=messages,
                        **shapes[place](ask),
                    )
                except openai.APITimeoutError:
                    raise Trouble("timeout", milliseconds=since(started)) from None
                except openai.APIStatusError as refused:
                    outcome = outcome_of(refused.status_code, f"{refused.code} {refused.type} {refused.message}")
                    # 501 is how some servers say that they do not know a format.
                    if (outcome == "bad_request" or refused.status_code == 501) and place + 1 < len(shapes):
                        continue
                    wait = retry_after(refused.response.headers)
                    raise Trouble(outcome, wait, since(started)) from None
                # What is no JSON, or no HTTP, comes out of the SDKs as it is.
                except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
                    raise Trouble("unavailable", milliseconds=since(started)) from None
                _taken[address] = place
                return _reply(completion, ask, since(started))
        raise AssertionError("the last shape either answers or raises")


def _reply(completion: Any, ask: Ask, milliseconds: int) -> Reply:
    # A compatible server may answer with anything: what is not there is read as nothing.
    choices = getattr(completion, "choices", None)
    choice = next(iter(choices), None) if isinstance(choices, list) else None
    message = getattr(choice, "message", None)
    refusal = getattr(message, "refusal", None)
    text = _text(getattr(message, "content", None)) or (refusal if isinstance(refusal, str) else "")
    stop = ended(getattr(choice, "finish_reason", None), {"length": "length", "content_filter": "refusal"})
    usage = getattr(completion, "usage", None)
    return Reply(
        text,
        "refusal" if refusal else stop,
        counted(getattr(usage, "prompt_tokens", None), ask.system, *(turn for _, turn in ask.turns)),
        counted(getattr(usage, "completion_tokens", None), text),
        milliseconds,
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
