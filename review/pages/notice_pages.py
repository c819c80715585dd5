"""Notices: what is sent to whom, the project's webhook, its secret shown once, and whether the last one arrived."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from projects import audit
from projects.models import Membership, Role
from review.models import Webhook
from review.notices import webhook
from review.pages.access import project_page


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def notices(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The page; POST keeps the address, by an owner. A first address gets a secret, shown in this answer alone."""
    if request.method != "POST":
        return _page(request, membership)
    if not membership.is_owner:
        return _page(request, membership, problem=_("Only an owner can set it."), status=403)
    typed = request.POST.get("url", "")
    try:
        url = webhook.check_address(typed)
    except webhook.BadAddress as problem:
        return _page(request, membership, typed=typed, problem=str(problem), status=422)
    hook = Webhook.objects.filter(project=membership.project).first()
    if hook is not None:
        Webhook.objects.filter(pk=hook.pk).update(url=url, last_fault="", last_sent_at=None)
        _record("webhook.change", membership, hook)
        messages.success(request, _("Kept. Its secret is the same."))
        return redirect("review:notices", membership.project.slug)
    secret = webhook.new_secret()
    hook = Webhook.objects.create(project=membership.project, url=url, secret=secret, created_by=membership.person)
    _record("webhook.create", membership, hook)
    return _page(request, membership, secret=secret)


@require_POST
@project_page(Role.OWNER)
def rotate(request: HttpRequest, membership: Membership) -> HttpResponse:
    """A new secret, shown in this answer alone; the old one signs nothing from now on."""
    hook = Webhook.objects.filter(project=membership.project).first()
    if hook is None:
        return redirect("review:notices", membership.project.slug)
    hook.secret = webhook.new_secret()
    hook.save(update_fields=["secret"])
    _record("webhook.rotate", membership, hook)
    return _page(request, membership, secret=hook.secret)


@require_POST
@project_page(Role.OWNER)
def remove(request: HttpRequest, membership: Membership) -> HttpResponse:
    hook = Webhook.objects.filter(project=membership.project).first()
    if hook is not None:
        _record("webhook.remove", membership, hook)
        hook.delete()
        messages.success(request, _("Taken away. Nothing is posted any more."))
    return redirect("review:notices", membership.project.slug)


@require_POST
@project_page(Role.OWNER)
def try_it(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Posts a message of the kind `test` now, four seconds at most, and says what came of it."""
    hook = Webhook.objects.filter(project=membership.project).first()
    if hook is None:
        return redirect("review:notices", membership.project.slug)
    now = timezone.now()
    stamp = int(now.timestamp())
    link = request.build_absolute_uri(f"/p/{membership.project.slug}/review")
    notice_id = f"test-{stamp}"
    message = {"id": notice_id, "kind": "test", "counts": {}, "link": link, "at": now.isoformat()}
    try:
        webhook.send(hook.url, hook.secret, notice_id, message, stamp, webhook.TEST_SECONDS)
    except webhook.NotSent as problem:
        Webhook.objects.filter(pk=hook.pk).update(last_fault=str(problem)[:60])
        messages.error(request, _("The test did not arrive: the address %(fault)s.") % {"fault": problem})
    else:
        Webhook.objects.filter(pk=hook.pk).update(last_fault="", last_sent_at=now)
        messages.success(request, _("The test arrived."))
    _record("webhook.test", membership, hook)
    return redirect("review:notices", membership.project.slug)


def _page(
    request: HttpRequest,
    membership: Membership,
    *,
    secret: str = "",
    typed: str | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    hook = Webhook.objects.filter(project=membership.project).first()
    context: dict[str, Any] = {
        "section": "settings",
        "subsection": "notices",
        "hook": hook if membership.is_owner else None,
        "has_hook": hook is not None,
        "secret": secret,
        "typed": typed if typed is not None else hook.url if hook is not None else "",
        "problem": problem,
        "now": timezone.now(),
    }
    answer = render(request, "review/notices.html", context, status=status)
    return answer


def _record(action: str, membership: Membership, hook: Webhook) -> None:
    audit.record(
        action,
        membership.person,
        project_id=membership.project_id,
        object_kind="webhook",
        object_ids=[hook.pk],
        now=timezone.now(),
    )
