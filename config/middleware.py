"""What every browser request passes through besides Django's own: headers, the sign-in page for htmx, tenancy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils import timezone

from projects import tenancy
from projects.models.membership import OF_PERSON

Handler = Callable[[HttpRequest], HttpResponse]

PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"


class ResponseHeadersMiddleware:
    """Nothing with memory text is kept by a cache, and nobody else's page may use it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        response["Permissions-Policy"] = PERMISSIONS_POLICY
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        response["X-Content-Type-Options"] = "nosniff"
        return response


class SignInMiddleware:
    """A fragment asked for after the session ended must not swap the sign-in page into the card: htmx is sent to it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if getattr(request, "htmx", False) and response.status_code == 302:
            target = response["Location"]
            if target.startswith(resolve_url("account_login")):
                back = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
                answer = HttpResponse(status=200)
                answer["HX-Redirect"] = f"{resolve_url('account_login')}?next={quote(back)}"
                return answer
        return response


class TenancyMiddleware:
    """Runs each view in one transaction that sees the signed-in person's projects and no other.

    It works in `process_view`, where an exception still rolls the transaction back, and renders the template inside,
    because a template may ask the database.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if getattr(view, "without_tenancy", False):
            return None
        request.memberships = []  # type: ignore[attr-defined]
        # A page of a project reads in its zone where the person has none of their own (review/pages/access.py).
        zone = request.user.zone_in() if request.user.is_authenticated else timezone.get_default_timezone()
        with timezone.override(zone), tenancy.reader(lambda: _projects_of(request)):
            response = view(request, *args, **kwargs)
            render = getattr(response, "render", None)
            if callable(render) and not getattr(response, "is_rendered", True):
                response = render()
        return response


def _projects_of(request: HttpRequest) -> list[int]:
    """The ids of the reader's projects; their memberships, by name, are noted on the request."""
    if not request.user.is_authenticated:
        return []
    memberships = OF_PERSON.all(person=request.user.pk)
    for membership in memberships:
        # Read already: nobody asks for it once more.
        membership.person = request.user
    request.memberships = memberships  # type: ignore[attr-defined]
    return [membership.project_id for membership in memberships]
