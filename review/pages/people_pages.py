"""The people of a project, and the link by which somebody comes in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from projects import people as steps
from projects import sign_ins, tenancy
from projects.models import Invitation, InvitationInvalid, Membership, Person, Role
from projects.words import later
from review.notices.mail import send_invitation
from review.pages import snippets
from review.pages.access import project_page
from review.pages.settings_forms import ChangeRole, Invite, Join

LAST_OWNER = later("A project keeps at least one owner. Make somebody else an owner first.")


@require_safe
@project_page(Role.VIEWER)
def people(request: HttpRequest, membership: Membership) -> HttpResponse:
    return _page(request, membership)


def _page(request: HttpRequest, membership: Membership, status: int = 200, **extra: Any) -> HttpResponse:
    project = membership.project
    context = {
        "section": "settings",
        "subsection": "people",
        "members": list(
            Membership.objects.filter(project=project).select_related("person").order_by("person__name", "pk")
        ),
        "invitations": list(
            Invitation.objects.filter(project=project, accepted_at=None).select_related("invited_by").order_by("pk")
        ),
        "roles": Role.choices,
        "invite": extra.pop("invite", None) or Invite(),
        "mail_is_sent": settings.MAIL_IS_SENT,
        "now": timezone.now(),
        **extra,
    }
    return render(request, "review/people.html", context, status=status)


@require_POST
@project_page(Role.OWNER)
def invite(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The answer shows the link, once. Sent again, the form makes a new link and ends the one before."""
    form = Invite(request.POST)
    if not form.is_valid():
        return _page(request, membership, 422, invite=form)
    email = form.cleaned_data["email"]
    try:
        token = steps.invite(
            membership.project, email, form.cleaned_data["role"], by=membership.person, now=timezone.now()
        )
    except steps.AlreadyMember:
        form.add_error("email", _("This person is in the project already. Change the role in the list."))
        return _page(request, membership, 422, invite=form)
    link = snippets.address(request) + reverse("review:invitation", args=[token])
    mailed = send_invitation(email, link, membership.person)
    return _page(request, membership, link=link, email=email, mailed=mailed)


@require_POST
@project_page(Role.OWNER)
def withdraw(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    found = Invitation.objects.filter(project=membership.project, accepted_at=None, pk=pk).first()
    if found is None:
        raise Http404
    steps.withdraw(found, by=membership.person, now=timezone.now())
    messages.success(request, _("The invitation is withdrawn; its link leads nowhere now."))
    return redirect("review:people", membership.project.slug)


@require_POST
@project_page(Role.OWNER)
def change_role(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    member, form = _member(membership, pk), ChangeRole(request.POST)
    if not form.is_valid():
        return _page(request, membership, 422, problem=_("There is no such role."), problem_member=member.pk)
    try:
        steps.change_role(member, form.cleaned_data["role"], by=membership.person, now=timezone.now())
    except steps.LastOwner:
        return _page(request, membership, 422, problem=LAST_OWNER, problem_member=member.pk)
    messages.success(
        request,
        (
            _("%(short_name)s: %(lower)s from now on.")
            % {"short_name": member.person.short_name, "lower": member.get_role_display().lower()}
        ),
    )
    return redirect("review:people", membership.project.slug)


@require_POST
@project_page(Role.OWNER)
def remove(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    member = _member(membership, pk)
    try:
        steps.remove(member, by=membership.person, now=timezone.now())
    except steps.LastOwner:
        return _page(request, membership, 422, problem=LAST_OWNER, problem_member=pk)
    if member.person_id == membership.person_id:
        messages.success(request, (_("You have left %(name)s.") % {"name": membership.project.name}))
        return redirect("review:home")
    messages.success(
        request,
        (
            _("%(short_name)s is out of the project. What they decided keeps their name; their keys end.")
            % {"short_name": member.person.short_name}
        ),
    )
    return redirect("review:people", membership.project.slug)


def _member(membership: Membership, pk: int) -> Membership:
    found = Membership.objects.select_related("person", "project").filter(project=membership.project, pk=pk).first()
    if found is None:
        raise Http404
    return found


@sensitive_post_parameters("password1", "password2")
# HEAD is what a mail server's link check sends; refused, the link with its token would stand in the log.
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Open to whoever has the link. Used, expired and invented links get one and the same answer.

    An address that has an account must be signed in to: a link that an owner was shown sets nobody's password."""
    now = timezone.now()
    with tenancy.system("invitation"):
        try:
            found = Invitation.objects.select_related("project", "invited_by").open_by_token(token, now)
        except InvitationInvalid:
            return render(request, "review/invitation.html", {}, status=404)
        known = Person.objects.filter(email__iexact=found.email).first()
        is_them = known is not None and request.user == known
        context = {"invitation": found, "known": known is not None, "is_them": is_them, "here": request.path}
        form = Join(request.POST if request.method == "POST" else None, email=found.email)
        if known is None:
            context["form"] = form
        if request.method != "POST" or not (is_them or (known is None and not request.user.is_authenticated)):
            return render(request, "review/invitation.html", context)
        if known is None:
            if not form.is_valid():
                return render(request, "review/invitation.html", context, status=422)
            given = form.cleaned_data
            try:
                known = steps.sign_up(found, name=given["name"], password=given["password1"])
            except steps.AddressTaken:
                return redirect(request.path)
            login(request, known, backend=settings.AUTHENTICATION_BACKENDS[0])
            sign_ins.note(request)
        steps.accept(found, known, now)
    if found.project is None:
        return redirect("review:home")
    return redirect("review:start" if found.role == Role.OWNER else "review:pile", found.project.slug)
