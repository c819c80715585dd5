"""All memories: the list with its filters in the address, and a new one by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.postgres.search import SearchQuery
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from memory import proposals, short_ids
from memory.models import BadSubject, Fact, FactChanged, NotAllowed, Status, Subject
from memory.models.subject import split
from memory.types import FactType, table
from projects.models import Agent, Membership, Role
from review.cards import card
from review.deciding import decisions
from review.pages.access import project_page

PAGE = 50
# Exact counts of large lists cost 27 ms; nobody reads past a thousand.
COUNT_CAP = 1000
# How often a memory was seen, as the list offers it; any other number may stand in the address.
SEEN_OFTEN = (2, 5, 10)
_ENDED = (Status.SUPERSEDED, Status.EXPIRED, Status.REMOVED, Status.LAPSED, Status.MERGED)


def views(now: datetime) -> tuple[tuple[str, str, Q], ...]:
    """Name, words and condition of each view. What the clock has ended is over, whether a sweep said so or not."""
    over = Q(status=Status.APPROVED, expires_at__isnull=False, expires_at__lte=now)
    return (
        ("approved", "Approved", Q(status=Status.APPROVED) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))),
        ("proposed", "Proposed", Q(status=Status.PROPOSED)),
        ("rejected", "Rejected", Q(status=Status.REJECTED)),
        ("ended", "Ended", Q(status__in=_ENDED) | over),
    )


@dataclass(frozen=True)
class Row:
    fact: Fact
    goes_to: str
    briefs: int


@dataclass(frozen=True)
class Chip:
    """One filter that is set: its words, and the address without it."""

    words: str
    without: str


def viewed(request: HttpRequest, membership: Membership, now: datetime) -> QuerySet[Fact]:
    """The memories of the view and the filters in this address."""
    view = request.GET.get("view", "approved")
    all_views = views(now)
    condition = next((found for name, _, found in all_views if name == view), all_views[0][2])
    everything = Fact.objects.filter(project=membership.project)
    return _filtered(everything.filter(condition), request, membership, membership.project.agents.all(), now)[0]


@require_safe
@project_page(Role.VIEWER)
def memory(request: HttpRequest, membership: Membership) -> HttpResponse:
    project, now = membership.project, timezone.now()
    everything = Fact.objects.filter(project=project)
    view = request.GET.get("view", "approved")
    all_views = views(now)
    view = view if view in {name for name, _, _ in all_views} else "approved"
    condition = next(found for name, _, found in all_views if name == view)
    agents = list(project.agents.all())
    found, chips = _filtered(everything.filter(condition), request, membership, agents, now)
    before = request.GET.get("before", "")
    last = short_ids.decode(before) if before else None
    page = list(
        (found.filter(pk__lt=last) if last else found)
        .select_related("subject", "approved_by")
        .order_by("-pk")[: PAGE + 1]
    )
    more, page = len(page) > PAGE, page[:PAGE]
    counts = {name: everything.filter(cond)[:COUNT_CAP].count() for name, _, cond in all_views}
    context = {
        "section": "memory",
        "view": view,
        "views": [
            (name, words, counts[name], _address(request, view=name, before=None)) for name, words, _ in all_views
        ],
        "rows": [Row(fact, card.goes_to(fact, tuple(agents)), count) for fact, count in card.with_briefs(page)],
        "chips": chips,
        "next_page": _address(request, before=page[-1].short_id) if more else "",
        "first_page": _address(request, before=None) if before else "",
        "export": _address(request, before=None).partition("?")[2],
        "query": request.GET.get("q", ""),
        "agents": agents,
        "types": sorted(table(project.types).values(), key=lambda row: row.words),
        "selected": {name: request.GET.get(name, "") for name in ("type", "agent", "subject", "flag", "seen")},
        "seen_often": [str(times) for times in SEEN_OFTEN],
        "is_empty": not any(counts.values()),
        "can_review": membership.can_review,
        "now": now,
    }
    return render(request, "review/memory.html", context)


def _filtered(
    found: QuerySet[Fact], request: HttpRequest, membership: Membership, agents: Iterable[Agent], now: datetime
) -> tuple[QuerySet[Fact], list[Chip]]:
    chips: list[Chip] = []
    query = request.GET.get("q", "").replace("\x00", "").strip()[:500]
    if query:
        typed = short_ids.decode(query.lower())
        matches = (
            Q(search=SearchQuery(query, config="english", search_type="plain"))
            | Q(search=SearchQuery(query, config="simple", search_type="plain"))
            | Q(text__icontains=query)
            | Q(key__icontains=query)
        )
        found = found.filter(Q(pk=typed) if typed else matches)
        chips.append(Chip(f"“{query}”", _address(request, q=None, before=None)))
    wanted = request.GET.get("type", "")
    types = table(membership.project.types)
    if wanted in types:
        found = found.filter(type=wanted)
        chips.append(Chip(types[wanted].words, _address(request, type=None, before=None)))
    for agent in agents:
        if agent.slug == request.GET.get("agent", ""):
            found = found.filter(Q(everyone=True) | Q(agent_ids__contains=[agent.pk]))
            chips.append(Chip(f"goes to {agent.slug}", _address(request, agent=None, before=None)))
    written = request.GET.get("subject", "")
    if written:
        try:
            subject = Subject.objects.find(membership.project_id, *split(written))
        except BadSubject:
            subject = None
        found = found.filter(subject=subject) if subject else found.none()
        chips.append(Chip(subject.words if subject else written[:80], _address(request, subject=None, before=None)))
    if request.GET.get("flag") == "personal":
        found = found.exclude(findings=[])
        chips.append(Chip("personal data", _address(request, flag=None, before=None)))
    seen = request.GET.get("seen", "")
    if seen.isascii() and seen.isdigit() and len(seen) < 9:
        found = found.filter(times_seen__gte=int(seen))
        chips.append(Chip(f"seen {int(seen)} times or more", _address(request, seen=None, before=None)))
    if request.GET.get("ends") == "soon":
        found = found.filter(expires_at__gt=now, expires_at__lte=now + timedelta(days=14))
        chips.append(Chip("ends within two weeks", _address(request, ends=None, before=None)))
    return found, chips


def _address(request: HttpRequest, **changes: str | None) -> str:
    """This page's address with some parameters changed (None drops one)."""
    query = request.GET.copy()
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    return f"?{query.urlencode()}" if query else request.path


class NewFact(forms.Form):
    """A memory written by hand."""

    text = forms.CharField(
        label="The sentence",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "textarea", "dir": "auto"}),
        help_text="One sentence.",
    )
    subject = forms.CharField(
        label="About",
        required=False,
        max_length=340,
        help_text="Such as customer:cust_123 or repo:orders-api. Empty: the project.",
    )
    type = forms.ChoiceField(label="Type")
    key = forms.CharField(
        label="Key",
        required=False,
        max_length=200,
        help_text="Such as timezone or contact.channel. Empty: made from the sentence.",
    )
    agent = forms.MultipleChoiceField(
        label="Goes to", required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: everyone."
    )

    def __init__(self, *args: Any, agents: Iterable[Agent], types: Iterable[FactType], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["type"].choices = [(row.name, row.words) for row in types]  # type: ignore[attr-defined]
        for name, css in (("subject", "input"), ("type", "select"), ("key", "input")):
            self.fields[name].widget.attrs["class"] = css
        self.fields["agent"].widget.attrs["class"] = "input"
        self.fields["agent"].choices = [(str(agent.pk), agent.slug) for agent in agents]  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.REVIEWER)
def new(request: HttpRequest, membership: Membership) -> HttpResponse:
    project = membership.project
    agents, types = project.agents.filter(archived_at__isnull=True), table(project.types).values()
    form = NewFact(request.POST or None, agents=agents, types=types)
    if request.method == "POST" and form.is_valid():
        try:
            outcome = _create(membership, form.cleaned_data)
        except BadSubject as problem:
            form.add_error("subject", str(problem))
        except (decisions.BadDecision, proposals.BadProposal) as problem:
            form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        except (NotAllowed, FactChanged) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Countersigned. Agents get it with their next brief.")
            return redirect("review:fact", outcome.fact.short_id)
    status = 422 if form.errors else 200
    return render(request, "review/new_fact.html", {"section": "memory", "form": form}, status=status)


def _create(membership: Membership, data: dict[str, Any]) -> decisions.Outcome:
    project = membership.project
    written = data["subject"].strip()
    subject = Subject.objects.resolve(project.pk, *split(written)) if written else Subject.objects.of_project(project)
    text = decisions.clean_sentence(data["text"])
    words = "".join(char if char.isalnum() else " " for char in text.casefold()).split()
    key = data["key"].strip() or "_".join(words[:6])[:80] or "note"
    agent_ids = [int(pk) for pk in data["agent"]]
    return decisions.create(
        membership,
        subject=subject,
        type=data["type"],
        key=proposals.full_key(data["type"], key),
        value=text,
        text=text,
        everyone=not agent_ids,
        agent_ids=agent_ids,
        expires_at=None,
        now=timezone.now(),
    )
