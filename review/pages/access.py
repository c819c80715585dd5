"""Who may open a page: every page about a project starts here. What a person may not see does not exist for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from memory import reads, short_ids
from memory.models import Fact, Session
from projects.models import Membership, Role

View = Callable[..., HttpResponse]


def membership_in(request: HttpRequest, project_id: int) -> Membership:
    """The reader's membership in this project, noted on the request for the frame. Raises Http404 for a stranger."""
    for membership in request.memberships:  # type: ignore[attr-defined]
        if membership.project_id == project_id:
            _enter(request, membership)
            return membership
    raise Http404


def _enter(request: HttpRequest, membership: Membership) -> None:
    """Notes the project for the frame, and reads in its zone whoever chose none of their own."""
    request.membership = membership  # type: ignore[attr-defined]
    # The middleware around the view puts back what was before.
    timezone.activate(request.user.zone_in(membership.project))  # type: ignore[union-attr]


def project_page(role: str = Role.VIEWER) -> Callable[[View], View]:
    """Wraps a view `(request, membership, …)` behind `/p/{slug}/…`: 302 to a stranger, 404 to a member of another
    project, 403 to a member whose role is too low."""

    def wrap(view: View) -> View:
        @functools.wraps(view)
        @login_required
        def inner(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
            for membership in request.memberships:  # type: ignore[attr-defined]
                if membership.project.slug == slug:
                    _enter(request, membership)
                    require(membership, role)
                    return view(request, membership, *args, **kwargs)
            raise Http404

        return inner

    return wrap


def require(membership: Membership, role: str) -> None:
    """Raises PermissionDenied (403) when the membership does not cover `role`."""
    if not membership.has(role):
        raise PermissionDenied


def find_fact(
    request: HttpRequest, short_id: str, joined: tuple[str, ...] = ("proposed_by_agent", "proposed_by", "approved_by")
) -> tuple[Fact, Membership]:
    """The memory behind a short id and the reader's membership in its project. Raises Http404 for anything else.
    `joined`: what of it is read at once beside its subject."""
    pk = short_ids.decode(short_id)
    if pk is None:
        raise Http404
    if joined:
        found = Fact.objects.select_related("subject", *joined).defer("search").filter(pk=pk).first()
    else:
        found = reads.FACT.first(fact=pk)
    if found is None:
        raise Http404
    membership = membership_in(request, found.project_id)
    found.project = membership.project
    return found, membership


def find_session(request: HttpRequest, short_id: str) -> tuple[Session, Membership]:
    """The session behind a short id and the reader's membership in its project. Raises Http404 for anything else."""
    pk = short_ids.decode(short_id, "s")
    found = Session.objects.select_related("agent", "project").filter(pk=pk).first() if pk else None
    if found is None:
        raise Http404
    return found, membership_in(request, found.project_id)
