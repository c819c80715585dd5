"""The error pages: what happened, to what, and what to do next. Never a traceback, never what was typed."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template
from django.utils.translation import gettext as _

from projects import tenancy
from review.pages import draft_pages

RETRY_AFTER_SECONDS = 5


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from before this sign-in. Words that were typed in it are kept; htmx is sent to where they stand."""
    kept, back = draft_pages.too_old(request)
    if request.htmx:  # type: ignore[attr-defined]
        if not request.user.is_authenticated:
            return draft_pages.sent_to_sign_in(request, back)
        if not kept:
            messages.warning(request, _("This page was too old to be counted. It is fresh now: do it again."))
        answer = HttpResponse(status=200)
        answer["HX-Redirect"] = back
        return answer
    return _page(request, "403_csrf.html", 403, kept=kept, back=back)


def bad_request(request: HttpRequest, exception: Any = None) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return _page(request, "413.html", 413, most=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return _page(request, "400.html", 400)


def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """PermissionDenied may carry a sentence of ours; without one the page says that the role does not reach."""
    return _page(request, "403.html", 403, exception=str(exception or ""))


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _page(request, "404.html", 404)


def too_often(request: HttpRequest) -> HttpResponse:
    answer = _page(request, "429.html", 429)
    answer["Retry-After"] = "60"
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request: whatever broke, a context processor may be what it broke in."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        answer = HttpResponse(get_template("503.html").render({}), status=503)
        answer["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return answer
    return HttpResponse(get_template("500.html").render({}), status=500)


def _page(request: HttpRequest, template: str, status: int, **context: Any) -> HttpResponse:
    """With the reader's projects set again: the view's transaction is over, and the bar counts what waits."""
    try:
        with tenancy.projects(row.project_id for row in getattr(request, "memberships", [])):
            return render(request, template, context, status=status)
    except (OperationalError, InterfaceError):
        return server_error(request)
