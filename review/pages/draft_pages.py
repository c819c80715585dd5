"""Back to words that could not be counted: their author was signed out in the middle, or the page was too old."""

from __future__ import annotations

import functools
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.models import Status
from review.pages import drafts, planted
from review.pages.access import View


def keeps_words(view: View) -> View:
    """Wraps a view `(request, short_id)` that takes a decision: who is signed out is sent to sign in, and what they
    typed is there when they come back."""

    @functools.wraps(view)
    def inner(request: HttpRequest, short_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, short_id, *args, **kwargs)
        if drafts.keep(request, short_id):
            return sent_to_sign_in(request, reverse("review:draft", args=[short_id]))
        return sent_to_sign_in(request, came_from(request))

    return inner


def keeps_form(view: View) -> View:
    """Wraps a view whose page is a form (drafts.FORMS): the same for what was typed in it."""

    @functools.wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated or request.method != "POST":
            return view(request, *args, **kwargs)
        return sent_to_sign_in(request, drafts.keep_form(request) or came_from(request))

    return inner


def words_of_form(request: HttpRequest) -> dict[str, list[str]]:
    """What was typed in the form of this page and could not be counted; {} where nothing was. Says so on the page."""
    kept = drafts.form_of(request)
    if kept:
        messages.info(request, _("Your words are here as you typed them. They were not counted yet."))
    return kept or {}


@require_safe
@login_required
def draft(request: HttpRequest, short_id: str) -> HttpResponse:
    """Opens the field that the words belong to: on the desk, or on the memory's own page, where they were typed."""
    fact, membership, _plant = planted.find_shown(request, short_id, timezone.now())
    kept = drafts.of(request, fact.pk)
    if kept:
        messages.info(request, _("Your words are here as you typed them. They were not counted yet."))
    panel = "note" if kept and "text" not in kept else "edit"
    if kept and (kept.get("back") == "fact" or not membership.can_review):
        return redirect(f"{reverse('review:fact', args=[fact.short_id])}?panel={panel}")
    desk = f"{reverse('review:pile', args=[membership.project.slug])}?card={fact.short_id}"
    asks = fact.status in (Status.PROPOSED, Status.APPROVED)
    return redirect(f"{desk}&panel={panel}" if kept and asks else desk)


def too_old(request: HttpRequest) -> tuple[bool, str]:
    """A form whose token is not this sign-in's: whether its words are kept, and the page to go back to."""
    found = request.resolver_match
    if found is not None and found.view_name == "review:decisions":
        short_id = str(found.kwargs["short_id"])
        if drafts.keep(request, short_id):
            return True, reverse("review:draft", args=[short_id])
    elif back := drafts.keep_form(request):
        return True, back
    return False, came_from(request)


def came_from(request: HttpRequest) -> str:
    """The page this was sent from, as htmx or the browser says it; else the start."""
    here, said = request.build_absolute_uri("/"), request.META.get("HTTP_REFERER", "")
    target = said[len(here) :] if said.startswith(here) else ""
    if request.htmx:  # type: ignore[attr-defined]
        target = request.htmx.current_url_abs_path or ""  # type: ignore[attr-defined]
    # Two slashes at the beginning would be the name of another machine.
    return "/" + target.lstrip("/\\")


def sent_to_sign_in(request: HttpRequest, back: str) -> HttpResponse:
    """To the sign-in sheet and from there to `back`; htmx is told in its own way."""
    answer = redirect_to_login(back)
    if not request.htmx:  # type: ignore[attr-defined]
        return answer
    told = HttpResponse(status=200)
    told["HX-Redirect"] = answer["Location"]
    return told
