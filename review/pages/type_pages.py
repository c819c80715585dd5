"""The kinds of memories of a project: how long each lives, fades and is asked about, and how it is reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memory import type_table
from memory.models import Fact
from memory.type_table import ChangedMeanwhile, Effects
from memory.types import TYPES, BadType, FactType, table, type_of
from projects.models import Membership, Project, Role
from projects.words import later
from review.pages.access import project_page, require
from review.pages.type_forms import NewType, TypeForm, asked, fades, fingerprint, lives

MEANWHILE = later(
    "Somebody changed this type since you opened the page. This is what it is now; nothing of yours was kept."
)


@dataclass(frozen=True)
class Line:
    """One row of the table, in words."""

    row: FactType
    state: str  # "changed", "added" or ""
    memories: int
    lives: str
    asked: str
    fades: str


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def types(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The table; with a POST, a type of one's own added to it."""
    form = NewType(request.POST or None)
    if request.method == "POST":
        require(membership, Role.OWNER)
        if form.is_valid() and (name := _added(membership, form)):
            messages.success(request, _("It is there, and behaves like a note until you say otherwise."))
            return redirect("review:type", membership.project.slug, name)
    context = {"section": "settings", "subsection": "types", "lines": _lines(membership.project), "form": form}
    return render(request, "review/types.html", context, status=422 if form.errors else 200)


def _added(membership: Membership, form: NewType) -> str:
    """The name of the type that was added; "" where the form now says why not."""
    name = form.cleaned_data["name"].strip()
    project = _fresh(membership)
    if name in table(project.types):
        form.add_error("name", _("There is a type of this name."))
        return ""
    seen = type_of(name, project.types)
    try:
        type_table.change(project, name, {}, seen=seen, by=membership.person, now=timezone.now())
    except BadType as bad:
        form.add_error("name", str(bad))
        return ""
    except ChangedMeanwhile:
        form.add_error("name", _("Somebody added it at this moment."))
        return ""
    return name


def _lines(project: Project) -> list[Line]:
    live = Fact.objects.filter(project=project).live(timezone.now()).order_by()
    counts = dict(live.values_list("type").annotate(count=Count("pk")))
    return [
        Line(row, _state(row), counts.get(name, 0), lives(row), asked(row), fades(row))
        for name, row in table(project.types).items()
    ]


def _state(row: FactType) -> str:
    shipped = TYPES.get(row.name)
    return "added" if shipped is None else "" if shipped == row else "changed"


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.OWNER)
def edit(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """One row. Where a change ends memories or asks about them, it says so first and is done by a second press."""
    project = _fresh(membership)
    row = _row(project, name)
    form = TypeForm(request.POST or None, row=row)
    if request.method != "POST":
        return _page(request, row, form)
    if not form.is_valid():
        return _page(request, row, form, 422)
    if form.cleaned_data["seen"] != fingerprint(row):
        return _page(request, row, TypeForm(row=row), 409, problem=MEANWHILE)
    try:
        effects = type_table.preview(project, name, form.cells(), timezone.now())
        if effects.are_felt and form.cleaned_data["agreed"] != repr(effects):
            return _page(request, row, form, effects=effects)
        _change(request, membership, project, row, form.cells())
    except BadType as bad:
        for cell, sentence in bad.problems.items():
            form.add_error(cell if cell in form.fields else None, sentence)
        return _page(request, row, form, 422)
    except ChangedMeanwhile:
        row = _row(_fresh(membership), name)
        return _page(request, row, TypeForm(row=row), 409, problem=MEANWHILE)
    return redirect("review:types", project.slug)


@require_POST
@project_page(Role.OWNER)
def reset(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """Back to what is shipped; a type that the project added goes."""
    project = _fresh(membership)
    row = _row(project, name)
    effects = type_table.preview(project, name, None, timezone.now())
    if effects.are_felt and request.POST.get("agreed") != repr(effects):
        return _page(request, row, TypeForm(row=row), resets=effects)
    try:
        _change(request, membership, project, row, None)
    except ChangedMeanwhile:
        return _page(request, row, TypeForm(row=row), 409, problem=MEANWHILE)
    return redirect("review:types", project.slug)


def _change(
    request: HttpRequest, membership: Membership, project: Project, row: FactType, cells: dict[str, Any] | None
) -> None:
    effects = type_table.change(project, row.name, cells, seen=row, by=membership.person, now=timezone.now())
    moved = effects.sooner + effects.later
    told = (
        (
            _(" %(moved)s %(moved2)s on another day now.")
            % {"moved": moved, "moved2": "memory ends" if moved == 1 else "memories end"}
        )
        if moved
        else ""
    )
    messages.success(request, f"Kept.{told}")


def _page(
    request: HttpRequest,
    row: FactType,
    form: TypeForm,
    status: int = 200,
    effects: Effects | None = None,
    resets: Effects | None = None,
    problem: str = "",
) -> HttpResponse:
    felt = effects or resets
    context = {
        "section": "settings",
        "subsection": "types",
        "row": row,
        "state": _state(row),
        "form": form,
        "told": told(felt) if felt else [],
        "agreed": repr(felt) if felt else "",
        "is_reset": resets is not None,
        "problem": problem,
    }
    return render(request, "review/type.html", context, status=status)


def told(effects: Effects) -> list[str]:
    """What a change would do, a sentence each: `12 memories would end earlier, 3 of them at once.`"""
    sentences = []
    if effects.sooner:
        at_once = (_(", %(over)s of them at once") % {"over": effects.over}) if effects.over else ""
        sentences.append(
            _("%(sooner)s would end earlier%(at_once)s.") % {"sooner": _memories(effects.sooner), "at_once": at_once}
        )
    if effects.later:
        sentences.append(_("%(later)s would live longer.") % {"later": _memories(effects.later)})
    if effects.asked:
        sentences.append(
            _("%(asked)s would come to the pile at once: still true?") % {"asked": _memories(effects.asked)}
        )
    return sentences


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _fresh(membership: Membership) -> Project:
    return Project.objects.get(pk=membership.project_id)


def _row(project: Project, name: str) -> FactType:
    found = table(project.types).get(name)
    if found is None:
        raise Http404
    return found
