"""Health in sentences: what runs, what is missing, and the command that mends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.models import Session, SessionStatus
from projects.models import Agent, Membership, Person, Role
from review.pages import distiller_pages
from review.pages.access import project_page


class Finding(Protocol):
    """One thing that was looked at (config.health.Finding)."""

    @property
    def name(self) -> str: ...
    @property
    def ok(self) -> bool: ...
    @property
    def sentence(self) -> str: ...
    @property
    def mend(self) -> str: ...


def _nothing() -> Sequence[Finding]:
    return ()


# The installation's own report lives in a higher room, which hands it in when it starts (config/apps.py).
_report: Callable[[], Sequence[Finding]] = _nothing


def register(report: Callable[[], Sequence[Finding]]) -> None:
    global _report
    _report = report


@login_required
@require_safe
def installation(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, Person) or not request.user.is_operator:
        raise PermissionDenied(_("Only an operator of this installation sees its health. Owners see their project's."))
    return render(request, "review/health.html", {"findings": _report()})


@require_safe
@project_page(Role.VIEWER)
def project_health(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Of the project for everybody in it; of the installation for its owners and for operators."""
    project = membership.project
    person = membership.person
    context = {
        "section": "settings",
        "subsection": "health",
        "agents": list(Agent.objects.filter(project=project, archived_at=None)),
        "failed_count": Session.objects.filter(project=project, status=SessionStatus.FAILED).count(),
        "provider_waits": distiller_pages.waits_in(project),
        "behind_count": Session.objects.filter(project=project).idle(timezone.now()).count(),
        "findings": _report() if membership.is_owner or person.is_operator else None,
        "now": timezone.now(),
    }
    return render(request, "review/health.html", context)
