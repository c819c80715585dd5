"""Replies that came in pieces: the text of an event stream (SSE) put together as the answer it stood for.

What a cut stream holds is kept; a piece that is no JSON is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def is_stream(text: str) -> bool:
    return text.lstrip("\ufeff\r\n ").startswith(("data:", "event:", ": ", "id:"))


def assembled(text: str) -> dict[str, Any]:
    """The body that the provider would have sent at once: Anthropic's, the Responses API's or chat completions'."""
    events = list(_events(text))
    types = {event.get("type") for event in events if isinstance(event.get("type"), str)}
    if any(str(kind).startswith("response.") for kind in types):
        return _responses(events)
    if "message_start" in types or "content_block_start" in types:
        return _anthropic(events)
    return _chat(events)


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if not line.startswith("data:"):
            continue
        try:
            event = json.loads(line[5:])
        except (ValueError, RecursionError):
            continue  # "[DONE]", or a line that was cut
        if isinstance(event, dict):
            yield event


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, list[str]] = {}
    for event in events:
        kind, place = event.get("type"), event.get("index")
        place = place if isinstance(place, int) else 0
        if kind == "message_start" and isinstance(event.get("message"), dict):
            body = {**event["message"], "role": "assistant", "type": "message"}
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[place], pieces[place] = dict(event["content_block"]), []
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict) and place in blocks:
            delta = event["delta"]
            piece = next((delta[key] for key in ("text", "partial_json") if isinstance(delta.get(key), str)), "")
            pieces[place].append(piece)
        elif kind == "message_delta" and isinstance(event.get("usage"), dict):
            usage = body.get("usage")
            body["usage"] = {**(usage if isinstance(usage, dict) else {}), **event["usage"]}
        elif kind == "error":
            body["error"] = event.get("error") or True
    body["content"] = [_filled(blocks[place], "".join(pieces[place])) for place in sorted(blocks)]
    return body


def _filled(block: dict[str, Any], said: str) -> dict[str, Any]:
    if block.get("type") == "text":
        start = block.get("text")
        return {**block, "text": (start if isinstance(start, str) else "") + said}
    return {**block, "input": _loaded(said)} if said else block


def _loaded(said: str) -> Any:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said


def _responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The last whole answer, which closes the stream; of a cut one its finished items and what was said so far."""
    body: dict[str, Any] = {}
    items: list[Any] = []
    said: list[str] = []
    for event in events:
        if isinstance(event.get("response"), dict):
            body = event["response"]
        if event.get("type") == "response.output_item.done":
            items.append(event.get("item"))
            said = []
        elif event.get("type") == "response.output_text.delta" and isinstance(event.get("delta"), str):
            said.append(event["delta"])
        elif event.get("type") == "error":
            body = {**body, "error": event.get("error") or event.get("message") or True}
    if body.get("output"):
        return body
    if said:
        items.append({"type": "message", "role": "assistant", "content": "".join(said)})
    return {**body, "output": items}


def _chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    said: list[str] = []
    refused: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for event in events:
        body.update({key: value for key, value in event.items() if key != "choices" and value is not None})
        for delta in _first_choice(event):
            said += [delta["content"]] if isinstance(delta.get("content"), str) else []
            refused += [delta["refusal"]] if isinstance(delta.get("refusal"), str) else []
            for call in delta.get("tool_calls") or ():
                _add_call(calls, call)
    if not said and not refused and not calls:
        return body
    message = {
        "role": "assistant",
        "content": "".join(said) or None,
        "refusal": "".join(refused) or None,
        "tool_calls": [calls[place] for place in sorted(calls)],
    }
    return {**body, "choices": [{"index": 0, "message": message}]}


def _first_choice(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0 and isinstance(choice.get("delta"), dict):
            yield choice["delta"]


def _add_call(calls: dict[int, dict[str, Any]], piece: Any) -> None:
    function = piece.get("function") if isinstance(piece, dict) else None
    if not isinstance(function, dict):
        return
    place = piece.get("index") if isinstance(piece.get("index"), int) else len(calls)
    call = calls.setdefault(place, {"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
    call["id"] = piece.get("id") or call["id"]
    for key in ("name", "arguments"):
        if isinstance(function.get(key), str):
            call["function"][key] += function[key]
