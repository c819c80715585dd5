"""Who reads the sessions of a project, what that costs, and the runs that did not go well."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memory import distillation, providers, short_ids, spending, waiting
from memory.distillers.hosted.calls import WAITS
from memory.distillers.hosted.prices import LISTED_ON
from memory.models import MAX_ATTEMPTS, DistillJob, JobStatus
from memory.spending import Spent
from projects import audit
from projects.models import Membership, Project, Role
from projects.models.project import DistillerName
from projects.words import later
from review.cards.pieces import Piece, visible
from review.pages.access import project_page, require
from review.pages.distiller_forms import DistillerForm

PAGE = 50
AT_ONCE = 200  # runs that one press starts again: about a second
DAYS = 30
TROUBLED = (JobStatus.FAILED, JobStatus.PARTIAL, JobStatus.RETRY)
# What went wrong, and what a person can do about it.
WHY = {
    "rate_limited": (later("The provider asked us to slow down."), ""),
    "unavailable": (later("The provider did not answer, or answered with an error of its own."), ""),
    "timeout": (later("No answer came in time."), ""),
    "bad_key": (later("The provider refuses the key."), later("Set a valid key and start Countersign again.")),
    "no_model": (
        later("The provider does not know this model, or the address is wrong."),
        later("Look at the model’s name."),
    ),
    "no_credit": (later("The account at the provider is empty."), later("Fill it up.")),
    "too_long": (
        later("The session is too long for the model, even in pieces."),
        later("Choose a model that reads more at once."),
    ),
    "bad_request": (
        later("The provider refused the request in every form it was made."),
        later("Choose another model."),
    ),
    "unusable": (
        later("The model did not reply in the form that was asked for."),
        later("Run it again, or choose another model."),
    ),
    "wrong_types": (later("What the model called facts were none."), later("Run it again, or choose another model.")),
    "truncated": (later("The reply was cut off at its limit."), later("Run it again, or choose another model.")),
    "refused": (
        later("The model declined to read the session."),
        later("Run it again, or let the local reader read it."),
    ),
    "WorkerDied": (
        later("The worker died in the middle, each time."),
        later("Look at the worker’s log for the reason."),
    ),
}
FELL_BACK = {
    "daily_cap": later("Today’s limit is used up, so the local reader reads until midnight UTC."),
    "no_key": later("No key is set for it, so the local reader reads."),
    "local_only": later("The project is local only, so the local reader reads."),
}


@dataclass(frozen=True)
class Key:
    """Whether a provider can be reached from this installation. Never the key."""

    name: str
    variable: str
    is_set: bool
    has_own_address: bool


@dataclass(frozen=True)
class RunLine:
    """One run in trouble, in words."""

    job: DistillJob
    state: str
    is_waiting: bool
    why: str
    mend: str
    spent: Spent | None
    reply: list[Piece]
    session_id: str


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def distiller(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Who reads; with a POST, an owner's choice."""
    # A row of its own: a refused form has already written on it, and the frame shows the project's name.
    project = Project.objects.get(pk=membership.project_id)
    form = DistillerForm(request.POST or None, instance=project)
    if request.method == "POST":
        require(membership, Role.OWNER)
        if form.is_valid():
            _keep(project, form, membership)
            messages.success(request, _("Kept. It counts from the next session that is read."))
            return redirect("review:distiller", project.slug)
    now = timezone.now()
    chosen = Project.objects.get(pk=project.pk)
    choice = providers.choose(chosen, now)
    spent = spending.spent_today(project.pk, now)
    context = {
        **_frame(membership, "distiller"),
        "form": form,
        "chosen": chosen,
        "choice": choice,
        "fell_back": FELL_BACK.get(choice.fell_back, ""),
        "keys": _keys(),
        "spent_today": spent,
        "left_today": max(chosen.daily_token_cap - spent, 0),
    }
    return render(request, "review/distiller.html", context, status=422 if form.errors else 200)


def _keep(project: Project, form: DistillerForm, membership: Membership) -> None:
    now = timezone.now()
    project.save(update_fields=list(form.cleaned_data))
    # What waited for the old choice goes on under the new one.
    waiting.wake(project.pk, now)
    audit.record(
        "project.change",
        membership.person,
        project_id=project.pk,
        object_kind="project",
        object_ids=[project.pk],
        now=now,
    )


def _keys() -> list[Key]:
    return [
        Key("Anthropic", "ANTHROPIC_API_KEY", bool(settings.ANTHROPIC_API_KEY), bool(settings.ANTHROPIC_BASE_URL)),
        Key("OpenAI", "OPENAI_API_KEY", bool(settings.OPENAI_API_KEY), bool(settings.OPENAI_BASE_URL)),
    ]


@require_safe
@project_page(Role.VIEWER)
def spent(request: HttpRequest, membership: Membership) -> HttpResponse:
    now = timezone.now()
    project_id = membership.project_id
    context = {
        **_frame(membership, "spending"),
        "total": spending.in_all(project_id, now - timedelta(days=DAYS)),
        "today": spending.today(project_id, now),
        "days": spending.by_day(project_id, now, DAYS),
        "runs": [(run, short_ids.encode(run.job.session_id, "s")) for run in spending.by_run(project_id, PAGE)],
        "day_count": DAYS,
        "listed_on": LISTED_ON,
    }
    return render(request, "review/spending.html", context)


@require_safe
@project_page(Role.VIEWER)
def runs(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What failed, was read in part, or waits; with what the model replied where that could not be used."""
    now = timezone.now()
    found = _troubled(membership.project)
    last = short_ids.decode(request.GET.get("before", ""), "r")
    listed = found.filter(pk__lt=last) if last else found
    page = list(listed.select_related("session__agent").order_by("-pk")[: PAGE + 1])
    more, page = len(page) > PAGE, page[:PAGE]
    costs = spending.of_jobs(page)
    lines = [_line(job, costs.get(job.pk), now) for job in page]
    if shown := [job.session_id for job in page if job.raw_reply]:
        audit.record(
            "reply.open",
            membership.person,
            project_id=membership.project_id,
            object_kind="session",
            object_ids=shown,
            now=now,
        )
    context = {
        **_frame(membership, "runs"),
        "lines": lines,
        "next_page": short_ids.encode(page[-1].pk, "r") if more else "",
        "is_first": not last,
        "most_attempts": MAX_ATTEMPTS,
    }
    return render(request, "review/runs.html", context)


@require_POST
@project_page(Role.REVIEWER)
def run_again(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    job = _troubled(membership.project).filter(pk=pk).first()
    if job is None:
        raise Http404
    distillation.retry(job, timezone.now())
    messages.success(request, _("It is read again in a moment."))
    return redirect("review:runs", membership.project.slug)


@require_POST
@project_page(Role.REVIEWER)
def run_all_again(request: HttpRequest, membership: Membership) -> HttpResponse:
    now = timezone.now()
    jobs = list(_troubled(membership.project).order_by("-pk")[:AT_ONCE])
    for job in jobs:
        distillation.retry(job, now)
    count = len(jobs)
    messages.success(
        request,
        (_("%(count)s %(count2)s read again.") % {"count": count, "count2": "run is" if count == 1 else "runs are"}),
    )
    return redirect("review:runs", membership.project.slug)


def waits_in(project: Project) -> list[str]:
    """What readings of this project wait for, a sentence each: `3 sessions wait. The provider refuses the key. …`"""
    waiting_jobs = DistillJob.objects.filter(project=project, status=JobStatus.RETRY, error__in=WAITS)
    found = waiting_jobs.values_list("error").annotate(count=Count("pk")).order_by("-count", "error")
    return [
        ngettext("%(count)s session waits. %(why)s", "%(count)s sessions wait. %(why)s", count)
        % {"count": f"{count:,}", "why": " ".join(str(part) for part in WHY[error]).strip()}
        for error, count in found
    ]


def _troubled(project: Project) -> QuerySet[DistillJob]:
    """Runs that failed, were read in part or wait, unless the session was read whole since."""
    since = DistillJob.objects.filter(session=OuterRef("session"), pk__gt=OuterRef("pk"), status=JobStatus.DONE)
    return DistillJob.objects.filter(project=project, status__in=TROUBLED).exclude(Exists(since))


def _other_end(job: DistillJob) -> tuple[str, str]:
    return _("It ended with %(error)s.") % {"error": job.error}, _("Look at the worker’s log for the reason.")


def _line(job: DistillJob, cost: Spent | None, now: datetime) -> RunLine:
    why, mend = WHY.get(job.error, _other_end(job))
    is_waiting = job.status == JobStatus.RETRY
    if not is_waiting:
        state = (
            (_("failed after %(attempts)s starts") % {"attempts": job.attempts})
            if job.status == JobStatus.FAILED
            else _("read in part")
        )
        if job.status == JobStatus.FAILED and job.error in WAITS:
            state = _("failed after %(waits)s pauses") % {"waits": job.waits}
    elif job.error in WAITS:
        state = _("waits for the provider")
    else:
        state = _("waits after start %(attempts)s of %(max_attempts)s") % {
            "attempts": job.attempts,
            "max_attempts": MAX_ATTEMPTS,
        }
    return RunLine(
        job, state, is_waiting, why, mend, cost, visible(job.raw_reply), short_ids.encode(job.session_id, "s")
    )


def _frame(membership: Membership, view: str) -> dict[str, Any]:
    return {
        "section": "settings",
        "subsection": "distiller",
        "view": view,
        "troubled_count": _troubled(membership.project).count(),
        "is_local": membership.project.distiller == DistillerName.LOCAL,
    }
