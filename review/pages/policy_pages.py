"""The review policy of a project: how much is one sitting, how each type is reviewed, what keeps it honest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from memory.types import FactType, table
from projects.models import Membership, Person, Project, Role
from review.deciding import policy as policies
from review.deciding import sampling
from review.deciding.decisions import REASON_WORDS
from review.deciding.policy import FEWEST, MOST, Level, Policy, PolicyChanged, Rule
from review.insights import arriving
from review.insights.arriving import Watch
from review.pages.access import project_page, require
from review.piles import gold

LEVELS: tuple[tuple[Level, Any], ...] = (
    (Level.ONE_BY_ONE, gettext_lazy("One by one")),
    (Level.LIST, gettext_lazy("As a list")),
    (Level.ARRIVAL, gettext_lazy("On arrival")),
)
LEVEL_WORDS = {level.value: words for level, words in LEVELS}


@dataclass(frozen=True)
class Line:
    """One type: its level, what may be chosen (level, words, is it chosen, may it be), and what there is to say."""

    row: FactType
    level: Level
    choices: tuple[tuple[str, Any, bool, bool], ...]
    why_not: str
    since: datetime | None = None
    by: str = ""
    watch: Watch | None = None

    @property
    def words(self) -> Any:
        return LEVEL_WORDS[self.level]


@dataclass(frozen=True)
class Ended:
    """A rule that ended by itself, in words."""

    row: FactType
    at: datetime
    reason: str
    back: int


class PolicyForm(forms.Form):
    """`seen` is the version of the policy that the page was made of."""

    sitting = forms.IntegerField(
        label=gettext_lazy("Cards in one sitting"),
        min_value=FEWEST,
        max_value=MOST,
        help_text=gettext_lazy("Then today’s pile ends; the rest is held back until tomorrow."),
        widget=forms.NumberInput({"class": "input", "inputmode": "numeric"}),
    )
    gold = forms.BooleanField(
        label=gettext_lazy("Mix in planted cards"), required=False, widget=forms.CheckboxInput({"class": "input"})
    )
    seen = forms.IntegerField(widget=forms.HiddenInput())


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def policy(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What holds, for everybody who reviews by it; an owner changes it."""
    project = Project.objects.get(pk=membership.project_id)
    now = timezone.now()
    if request.method != "POST":
        return _page(request, membership, project, _form(project), now)
    require(membership, Role.OWNER)
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, project, form, now, 422)
    try:
        levels = _levels(request, project)
        wants_gold = form.cleaned_data["gold"]
        if wants_gold and not Policy.of(project).gold and not gold.offer(project, now).is_open:
            raise NotYet(_("Planted cards cannot be switched on yet."))
        changed = policies.change(
            project,
            seen=form.cleaned_data["seen"],
            by=membership.person,
            now=now,
            sitting=form.cleaned_data["sitting"],
            gold=wants_gold,
            levels=levels,
        )
    except NotYet as problem:
        return _page(request, membership, project, form, now, 422, str(problem))
    except PolicyChanged:
        told = _("Somebody changed the policy since you opened this page. This is how it is now; nothing was kept.")
        return _page(request, membership, Project.objects.get(pk=project.pk), _form(project), now, 409, told)
    if changed:
        messages.success(request, ngettext("Kept: %d change.", "Kept: %d changes.", changed) % changed)
    else:
        messages.info(request, _("Nothing was changed."))
    return redirect("review:policy", project.slug)


@require_POST
@project_page(Role.OWNER)
def note(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """An owner has read that a rule ended: the strip goes."""
    project = Project.objects.get(pk=membership.project_id)
    if name not in Policy.of(project).rules:
        raise Http404
    policies.note(project, name, by=membership.person, now=timezone.now())
    return redirect("review:policy", project.slug)


class NotYet(Exception):
    """What was chosen may not be chosen yet; the message says why."""


def _levels(request: HttpRequest, project: Project) -> dict[str, Level]:
    """The levels that were sent. Raises NotYet for one that may not be chosen."""
    standing = Policy.of(project)
    records = sampling.records(project)
    levels = {}
    for name, row in table(project.types).items():
        sent = request.POST.get(f"level-{name}", "")
        if sent not in set(Level) or row.one_by_one:
            continue
        level = Level(sent)
        is_new = level == Level.ARRIVAL and standing.level(name) != Level.ARRIVAL
        if is_new and not records.get(name, sampling.Record()).is_enough:
            terms = {"type": row.words, "needed": sampling.NEEDED}
            raise NotYet(_("%(type)s cannot come in on arrival before %(needed)d clean decisions.") % terms)
        levels[name] = level
    return levels


def _form(project: Project) -> PolicyForm:
    standing = Policy.of(project)
    return PolicyForm(initial={"sitting": standing.sitting, "gold": standing.gold, "seen": standing.version})


def _page(
    request: HttpRequest,
    membership: Membership,
    project: Project,
    form: PolicyForm,
    now: datetime,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    standing = Policy.of(project)
    if form.is_bound and status == 409:
        form = _form(project)
    names = _names([rule.by for rule in standing.rules.values()] + [one.by for one in standing.changes])
    types = table(project.types)
    context = {
        "section": "settings",
        "subsection": "policy",
        "form": form,
        "problem": problem,
        "lines": _lines(project, standing, names, request.POST if status == 422 else {}),
        "ended": [
            Ended(types[name], rule.ending.at, REASON_WORDS.get(rule.ending.reason, ""), rule.ending.back)
            for name, rule in standing.ended.items()
            if rule.ending is not None and name in types
        ],
        "changes": [(one, names.get(one.by or 0, ""), *_told(one, types)) for one in standing.changes[:20]],
        "offer": gold.offer(project, now),
        "gold_on": standing.gold,
        "planted": gold,
        "needed": sampling.NEEDED,
        "one_in": sampling.ONE_IN,
        "least": sampling.LEAST_A_WEEK,
        "sitting": standing.sitting,
        "now": now,
    }
    return render(request, "review/policy.html", context, status=status)


def _lines(project: Project, standing: Policy, names: dict[int, str], sent: Any) -> list[Line]:
    """Every type of the project: four queries at most, whatever their number."""
    records, watches = sampling.records(project), arriving.watches(project)
    lines = []
    for name, row in table(project.types).items():
        level = standing.level(name)
        rule = standing.rules.get(name, Rule(level))
        why_not = _why_not(row, level, records.get(name, sampling.Record()))
        may = {
            Level.ONE_BY_ONE: True,
            Level.LIST: not row.one_by_one,
            Level.ARRIVAL: not row.one_by_one and (not why_not or level == Level.ARRIVAL),
        }
        chosen = sent.get(f"level-{name}", level.value)
        lines.append(
            Line(
                row=row,
                level=level,
                choices=tuple((one.value, words, one.value == chosen, may[one]) for one, words in LEVELS),
                why_not=why_not,
                since=rule.since if rule.level == level else None,
                by=names.get(rule.by or 0, ""),
                watch=watches.get(name),
            )
        )
    return lines


def _why_not(row: FactType, level: Level, record: sampling.Record) -> str:
    """Why "on arrival" may not be chosen yet, or ""."""
    if row.one_by_one:
        return _("Always one by one: so the table of types says.")
    if level == Level.ARRIVAL or record.is_enough:
        return ""
    terms = {"clean": record.clean, "needed": sampling.NEEDED}
    return _("%(clean)d of %(needed)d decisions without a severe reject") % terms


def _names(ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {pk for pk in ids if pk is not None}
    return {person.pk: person.short_name for person in Person.objects.filter(pk__in=wanted)} if wanted else {}


def _told(one: policies.Change, types: dict[str, FactType]) -> tuple[str, str, str]:
    """(what was changed, what it was, what it is), in words."""
    if one.what == "sitting":
        return _("Cards in one sitting"), one.was, one.now
    if one.what == "gold":
        return _("Planted cards"), _on(one.was), _on(one.now)
    row = types.get(one.what)
    words = row.words if row else one.what.replace("_", " ")
    if one.is_undo:
        words = _("%(type)s, a severe reject taken back") % {"type": words}
    return words[:1].upper() + words[1:], str(LEVEL_WORDS.get(one.was, one.was)), str(LEVEL_WORDS.get(one.now, one.now))


def _on(word: str) -> str:
    return _("on") if word == "on" else _("off")
