"""Saving a view of the list under a name, for oneself or for the project; giving it another, and taking it away."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory import rendering
from projects import audit
from projects.models import Membership, Role
from review.models import SavedView
from review.pages import saved_views
from review.pages.access import project_page

LONGEST_NAME, LONGEST_QUERY = 60, 1000


@require_POST
@project_page(Role.VIEWER)
def save(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Keeps the filters of this address (`/p/{slug}/views?…`) under a name. `shared` for the whole project."""
    query = saved_views.cleaned(request.GET)
    name = _name(request)
    is_shared = request.POST.get("shared") == "1" and membership.can_review
    owner = None if is_shared else membership.person
    count = SavedView.objects.filter(project=membership.project, person=owner, page=saved_views.PAGE).count()
    if not name:
        messages.error(request, _("Give the view a name."))
    elif not query:
        messages.error(request, _("Filter the list first; the whole list needs no name."))
    elif len(query) > LONGEST_QUERY:
        messages.error(request, _("These filters are too long to be kept. Take some away."))
    elif count >= saved_views.MOST:
        messages.error(request, _("%(most)d views are kept. Take one away first.") % {"most": saved_views.MOST})
    else:
        view = SavedView(project=membership.project, person=owner, page=saved_views.PAGE, name=name, query=query)
        if _kept(view):
            _record("view.save", membership, view)
            messages.success(request, _("Saved as “%(name)s”.") % {"name": name})
        else:
            messages.error(request, _("There is a view “%(name)s” already. Choose another name.") % {"name": name})
    return _back(membership, query)


@require_POST
@project_page(Role.VIEWER)
def rename(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    view = _find(membership, pk)
    name = _name(request)
    before = view.name
    view.name = name
    if not name:
        messages.error(request, _("Give the view a name."))
    elif _kept(view):
        _record("view.rename", membership, view)
        messages.success(
            request, _("It is called “%(name)s” now; before: “%(before)s”.") % {"name": name, "before": before}
        )
    else:
        messages.error(request, _("There is a view “%(name)s” already. Choose another name.") % {"name": name})
    return _back(membership, view.query)


@require_POST
@project_page(Role.VIEWER)
def remove(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """Takes the name away; the filters stay in the address, and so can be saved again."""
    view = _find(membership, pk)
    _record("view.remove", membership, view)
    view.delete()
    messages.success(request, _("The view “%(name)s” is gone; its filters are still set.") % {"name": view.name})
    return _back(membership, view.query)


def _find(membership: Membership, pk: int) -> SavedView:
    """A view that this person may change. Raises Http404 for anything else."""
    view = SavedView.objects.filter(project=membership.project, pk=pk).first()
    if view is None or not saved_views.may_change(view, membership):
        raise Http404
    return view


def _kept(view: SavedView) -> bool:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError:
        return False
    return True


def _name(request: HttpRequest) -> str:
    return rendering.clean_line(request.POST.get("name", ""))[:LONGEST_NAME].strip()


def _back(membership: Membership, query: str) -> HttpResponse:
    return redirect(f"{reverse('review:memory', args=[membership.project.slug])}?{query}")


def _record(action: str, membership: Membership, view: SavedView) -> None:
    audit.record(
        action,
        membership.person,
        project_id=membership.project_id,
        object_kind="view",
        object_ids=[view.pk],
        now=timezone.now(),
    )
