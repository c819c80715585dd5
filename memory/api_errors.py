"""How the agents' API says no: {"code", "message", "field"}. Never with what was sent or stored."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError

from projects.faults import described

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 2
NAME_CHARACTERS = 100


class ErrorAnswer(Schema):
    code: str
    message: str
    field: str | None = None


class ApiError(Exception):
    """An answer that is no success. The message says what to do next."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers = dict(headers or {})


class NotFound(ApiError):
    """What does not exist and what is not visible to the caller: the same bytes."""

    def __init__(self) -> None:
        super().__init__(404, "not_found", "There is nothing here.")


class Unavailable(ApiError):
    """Not promised: nothing may be assumed stored."""

    def __init__(self, message: str = "Not stored in time. Send the same again, with the same ids.") -> None:
        super().__init__(503, "unavailable", message, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def answer(error: ApiError) -> HttpResponse:
    body = {"code": error.code, "message": error.message, "field": error.field}
    response = JsonResponse(body, status=error.status, headers=error.headers)
    # Django would log the address of every refusal, and a session's id in it may name a person.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def install(api: NinjaAPI) -> None:
    """Every way an operation can fail, as such an answer."""
    handlers: list[tuple[type[Exception], Callable[[HttpRequest, Any], HttpResponse]]] = [
        (ApiError, lambda request, error: answer(error)),
        (Http404, lambda request, error: answer(NotFound())),
        (ValidationError, _invalid),
        (HttpError, _http_error),
        (SuspiciousOperation, _foreign_host),
        (OperationalError, _database_down),
        (InterfaceError, _database_down),
        (Exception, _fault),
    ]
    for kind, handler in handlers:
        api.add_exception_handler(kind, handler)


def not_found(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    """The view for every address under the API that is none."""
    return answer(NotFound())


def in_json(view: Callable[..., Any]) -> Callable[..., Any]:
    """The view, where a wrong method is told as every other refusal is: ninja itself would answer with plain text."""

    @functools.wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        message = f"This address takes {allowed.replace(', ', ' or ')} only."
        return answer(ApiError(405, "wrong_method", message, headers={"Allow": allowed}))

    return inner


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first: Mapping[str, Any] = error.errors[0] if error.errors else {}
    field = field_name(first.get("loc", ()))
    if first.get("type") == "extra_forbidden":
        return answer(ApiError(422, "unknown_field", "This field is not known here.", field))
    if first.get("type") == "missing":
        return answer(ApiError(422, "missing_field", "This field is missing.", field))
    return answer(ApiError(422, "bad_value", _sentence(first), field))


def field_name(location: Sequence[str | int]) -> str | None:
    """ninja's ("body", "payload", "subjects", 0) as `subjects.0`: where it came from is no part of the name."""
    parts = [str(part) for part in location]
    if parts and parts[0] in ("body", "query", "path", "header"):
        parts = parts[2:] if parts[0] == "body" and len(parts) > 2 else parts[1:]
    # A field nobody knows may have any name, and be as long as a body.
    return ".".join(parts)[:NAME_CHARACTERS] or None


def _sentence(error: Mapping[str, Any]) -> str:
    # Pydantic's own sentences name the expectation; only a validator of ours may say more, and it never quotes.
    message = str(error.get("msg", "")) or "This value does not fit."
    return message if message.endswith(".") else f"{message}."


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, ApiError):
        return answer(error.__cause__)  # ninja wraps what its parser raises
    codes = {400: "malformed_json", 401: "bad_key", 403: "not_permitted", 404: "not_found", 429: "too_many_calls"}
    return answer(ApiError(error.status_code, codes.get(error.status_code, "refused"), error.message))


def _foreign_host(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    message = "This host name is not known here. The operator of this installation sets COUNTERSIGN_ALLOWED_HOSTS."
    return answer(ApiError(400, "bad_host", message))


def _database_down(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("the database did not answer (%s)", type(error).__name__)
    if getattr(error.__cause__, "sqlstate", None) == "53100":  # disk_full
        return answer(Unavailable("The server's disk is full; its operator frees some space. Send the same again."))
    return answer(Unavailable("The database does not answer. Send the same again."))


def _fault(request: HttpRequest, error: Exception) -> HttpResponse:
    # An error's message may quote what was captured: only its class and where it came from are logged.
    logger.error("%s", described(error))
    return answer(ApiError(500, "internal_error", "Something is wrong on our side; the server's log says where."))
