"""Home, the first visit to an empty installation, a new project, and the choice of theme."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memory.models import Session, SessionStatus
from projects import audit, first_visitor, people, sign_ins, tenancy
from projects.models import Agent, Membership, Person, Project, Role
from review.notices.mail import send_invitation
from review.pages import snippets
from review.pages.frame import THEMES
from review.pages.settings_forms import NewProject, Welcome
from review.piles.counts import waiting

YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True)
class Row:
    """One project on the home page, and what waits there."""

    membership: Membership
    # In words, "" for nothing.
    waiting: str
    unread: int
    heard_at: datetime | None
    paused_agents: int


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return redirect("review:welcome") if first_visitor.is_empty() else redirect_to_login("/")
    rows = _rows(request.memberships, timezone.now())  # type: ignore[attr-defined]
    others = _other_projects(request) if request.user.is_operator else []
    return render(request, "review/home.html", {"rows": rows, "others": others})


def _rows(memberships: list[Membership], now: datetime) -> list[Row]:
    ids = [membership.project_id for membership in memberships]
    waits = waiting(ids, now)
    unread = dict(
        Session.objects.filter(project__in=ids, status=SessionStatus.FAILED)
        .order_by()
        .values_list("project")
        .annotate(Count("pk"))
    )
    agents = {
        row["project"]: (row["heard"], row["paused"])
        for row in Agent.objects.filter(project__in=ids, archived_at=None)
        .order_by()
        .values("project")
        .annotate(heard=Max("last_heard_at"), paused=Count("paused_at"))
    }
    found = []
    for membership in memberships:
        heard_at, paused = agents.get(membership.project_id, (None, 0))
        pk = membership.project_id
        found.append(Row(membership, waits[pk].but(0) if pk in waits else "", unread.get(pk, 0), heard_at, paused))
    return found


def _other_projects(request: HttpRequest) -> list[Project]:
    """The rest of the installation, for an operator: names and owners, never a memory."""
    mine = [membership.project_id for membership in request.memberships]  # type: ignore[attr-defined]
    with tenancy.system("operator"):
        others = list(Project.objects.exclude(pk__in=mine).order_by("name", "pk"))
        owners = list(Membership.objects.filter(project__in=others, role=Role.OWNER).select_related("person"))
    for project in others:
        project.owners = [row.person for row in owners if row.project_id == project.pk]  # type: ignore[attr-defined]
    return others


@sensitive_post_parameters("code", "password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest) -> HttpResponse:
    """Only while nobody has an account. Whoever knows the printed code becomes the operator."""
    if not first_visitor.is_empty():
        return redirect("review:home")
    form = Welcome(request.POST or None)
    if request.method != "POST":
        return render(request, "review/welcome.html", {"form": form})
    if not ratelimit.consume(request, action="welcome"):
        form.is_valid()
        form.add_error(None, _("That were ten tries in a minute. Wait a minute, then try again."))
        return render(request, "review/welcome.html", {"form": form}, status=429)
    if form.is_valid() and (person := _first_person(form)):
        login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
        sign_ins.note(request)
        return redirect("review:new_project")
    return render(request, "review/welcome.html", {"form": form}, status=422)


def _first_person(form: Welcome) -> Person | None:
    given = form.cleaned_data
    try:
        person = first_visitor.welcome(given["code"], given["email"], given["name"], given["password1"])
    except first_visitor.WrongCode:
        form.add_error("code", _("This is not the code that was printed last; each start prints a new one."))
        return None
    with tenancy.system("first visitor"):
        audit.record(
            "person.first", person, project_id=0, object_kind="person", object_ids=[person.pk], now=timezone.now()
        )
    return person


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """An operator names the owner. Anybody but the operator gets a link, shown on the answer and never again."""
    operator = request.user
    if not isinstance(operator, Person) or not operator.is_operator:
        raise PermissionDenied(_("Only an operator of this installation makes projects. Ask the person who runs it."))
    form = NewProject(request.POST or None, initial={"owner": operator.email, "timezone": operator.timezone})
    if request.method != "POST":
        return render(request, "review/new_project.html", {"form": form})
    if not form.is_valid():
        return render(request, "review/new_project.html", {"form": form}, status=422)
    given = form.cleaned_data
    try:
        project, token = people.found_project(
            operator,
            slug=given["slug"],
            name=given["name"],
            timezone=given["timezone"],
            owner_email=given["owner"],
            now=timezone.now(),
        )
    except people.SlugTaken:
        form.add_error("slug", _("Another project has this short name. Choose another."))
        return render(request, "review/new_project.html", {"form": form}, status=422)
    if not token:
        return redirect("review:start", project.slug)
    link = snippets.address(request) + reverse("review:invitation", args=[token])
    context = {
        "made": project,
        "link": link,
        "email": given["owner"],
        "mailed": send_invitation(given["owner"], link, operator),
    }
    return render(request, "review/new_project.html", context)


@login_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light, dark or as the system: kept with the person, and in a cookie for pages that know nobody."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None) or not target.startswith("/"):
        target = "/"
    answer = redirect(target)
    wanted = request.POST.get("theme", "")
    if wanted in THEMES:
        person: Person = request.user  # type: ignore[assignment]
        person.theme = wanted
        person.save(update_fields=["theme"])
        answer.set_cookie(
            "theme", wanted, max_age=YEAR_SECONDS, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        messages.warning(request, _("There is no such theme; nothing was changed."))
    return answer
