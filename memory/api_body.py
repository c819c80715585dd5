"""The body of a call: read up to a limit, decoded as UTF-8, parsed as JSON. Nothing of it goes into an error."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser
from ninja.types import DictStrAny

from memory.api_errors import ApiError

BODY_LIMIT_BYTES = 10 * 1024 * 1024
_TOO_LARGE = f"A body has at most {BODY_LIMIT_BYTES // 1024 // 1024} MB. Send it in several calls."


def bound(request: HttpRequest) -> None:
    """Makes `request.body` safe to read. Raises ApiError (415) for a compressed body and (413) for a large one: from
    the declared length before anything is read, or after the limit when none is declared (chunked)."""
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in ("", "identity"):
        raise ApiError(415, "encoded_body", "Send the body as it is, without Content-Encoding.")
    declared = request.META.get("CONTENT_LENGTH") or ""
    if declared:
        if int(declared) > BODY_LIMIT_BYTES:
            raise ApiError(413, "too_large", _TOO_LARGE)
    elif "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        # Django takes a body without a length for an empty one. The server ends the stream (wsgi.input_terminated).
        request._body = _read_chunked(request)


def _read_chunked(request: HttpRequest) -> bytes:
    stream = request.META["wsgi.input"]
    parts: list[bytes] = []
    room = BODY_LIMIT_BYTES + 1
    while room > 0 and (part := stream.read(min(room, 1024 * 1024))):
        parts.append(part)
        room -= len(part)
    if room <= 0:
        raise ApiError(413, "too_large", _TOO_LARGE)
    return b"".join(parts)


def parse_json(body: bytes) -> Any:
    """The JSON value of a body; bytes that are no UTF-8 become U+FFFD. Raises ApiError (422)."""
    try:
        return json.loads(body.decode("utf-8-sig", errors="replace"))
    except RecursionError:
        raise ApiError(422, "malformed_json", "The body is nested too deeply.") from None
    except ValueError as problem:
        # Also an integer of more digits than Python converts.
        where = f" near character {problem.pos}" if isinstance(problem, json.JSONDecodeError) else ""
        raise ApiError(422, "malformed_json", f"The body is no JSON{where}.") from None


def json_object(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object. Raises ApiError (422)."""
    value = parse_json(request.body)
    if not isinstance(value, dict):
        raise ApiError(422, "not_an_object", "The body must be a JSON object.")
    return value


class BoundedParser(Parser):
    """What ninja parses bodies with: the same limits and sentences for every call."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        return json_object(request)
