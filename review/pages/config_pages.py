"""System memory of one agent: its versions, what the next one would change, and which is told to it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from projects import configs
from projects.models import Agent, AgentConfig, Membership, Role
from review.cards.pieces import Piece, visible
from review.pages import drafts
from review.pages.access import project_page, require
from review.pages.draft_pages import keeps_form, words_of_form

VERSIONS = 30
# Lines of the same text round a change.
AROUND = 3


class Write(forms.Form):
    """The next version. `after` is the version its author started from."""

    content = forms.CharField(
        label=gettext_lazy("A JSON object"),
        max_length=8 * configs.MOST_BYTES,
        widget=forms.Textarea(
            {"class": "textarea code", "rows": 14, "spellcheck": "false", "autocapitalize": "none", "dir": "ltr"}
        ),
    )
    note = forms.CharField(
        label=gettext_lazy("What changed"),
        max_length=200,
        required=False,
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
    )
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput())

    def clean_content(self) -> dict[str, Any]:
        try:
            return configs.parse(self.cleaned_data["content"])
        except configs.BadConfig as wrong:
            raise forms.ValidationError(str(wrong)) from None


@dataclass(frozen=True)
class Change:
    """One line of a comparison. `mark`: same, gone, new, or skip for what was left out between."""

    mark: str
    text: str

    @property
    def pieces(self) -> list[Piece]:
        """The line as an owner must see it: what nobody sees, and what is disguised, in its box."""
        return visible(self.text)


@require_http_methods(["GET", "HEAD", "POST"])
@keeps_form
@project_page(Role.VIEWER)
def config(request: HttpRequest, membership: Membership, agent: str) -> HttpResponse:
    """Everybody in the project reads it; an owner writes. A version that is written is not told yet."""
    found = _find(membership, agent)
    if request.method != "POST":
        return _page(request, membership, found)
    require(membership, Role.OWNER)
    form = Write(request.POST)
    if not form.is_valid():
        return _page(request, membership, found, form, 422)
    given = form.cleaned_data
    now = timezone.now()
    terms: dict[str, Any] = {"note": given["note"], "after": given["after"], "by": membership.person, "now": now}
    try:
        made, is_new = configs.write(found, given["content"], **terms)
    except configs.ConfigChanged:
        said = _("Somebody wrote a version while you did. Compare yours with it below, then send it again.")
        # Sent again, it starts from what is there now; its author has both before their eyes.
        newest = configs.versions(found).first()
        again = Write({**request.POST.dict(), "after": newest.version if newest else 0})
        again.is_valid()
        return _page(request, membership, found, again, 409, said)
    if is_new:
        said = _("Version %(version)d is written. The agent is told it once you deploy it.")
    else:
        said = _("Version %(version)d says the same already; none was written.")
    drafts.drop_form(request)
    messages.success(request, said % {"version": made.version})
    answer = redirect("review:config", membership.project.slug, found.slug)
    answer["Location"] += f"?version={made.version}"
    return answer


@require_POST
@project_page(Role.OWNER)
def deploy(request: HttpRequest, membership: Membership, agent: str, version: int) -> HttpResponse:
    """The agent is told this version from its next call on. An older one again is how one goes back."""
    found = _find(membership, agent)
    wanted = configs.versions(found).filter(version=version).first()
    if wanted is None:
        raise Http404
    if configs.deploy(wanted, by=membership.person, now=timezone.now()):
        said = _("Version %(version)d is deployed: %(agent)s gets it with its next call.")
    else:
        said = _("Version %(version)d was deployed already.")
    messages.success(request, said % {"version": version, "agent": found.slug})
    return redirect("review:config", membership.project.slug, found.slug)


def _page(
    request: HttpRequest,
    membership: Membership,
    agent: Agent,
    form: Write | None = None,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    versions = list(configs.versions(agent)[:VERSIONS])
    told = configs.deployed(agent)
    newest = versions[0] if versions else None
    shown = _chosen(request, agent, versions, told)
    typed = form.cleaned_data.get("content") if form is not None and status == 409 else None
    if typed is not None:
        shown = newest
    start = {"content": configs.written(newest.content if newest else {}), "after": newest.version if newest else 0}
    if form is not None:
        drafts.keep_form(request)
    elif membership.is_owner:
        start |= {name: values[0] for name, values in words_of_form(request).items() if values}
    context = {
        "section": "settings",
        "subsection": "agents",
        "agent": agent,
        "versions": versions,
        "told": told,
        "shown": shown,
        "shown_pieces": visible(configs.written(shown.content)) if shown else [],
        "changes": _changes(told, shown) if shown and (told is None or told.pk != shown.pk) else [],
        "typed_changes": changes(configs.written(newest.content), configs.written(typed)) if typed and newest else [],
        "form": form or Write(initial=start),
        "problem": problem,
        "author": drafts.author(membership.person),
        "most": configs.MOST_BYTES,
    }
    return render(request, "review/config.html", context, status=status)


def _chosen(
    request: HttpRequest, agent: Agent, versions: list[AgentConfig], told: AgentConfig | None
) -> AgentConfig | None:
    """The version in the address, else the newest one, else none."""
    wanted = request.GET.get("version", "")
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 9:
        found = configs.versions(agent).filter(version=int(wanted)).first()
        if found is None:
            raise Http404
        return found
    return told or (versions[0] if versions else None)


def _changes(told: AgentConfig | None, shown: AgentConfig) -> list[Change]:
    return changes(configs.written(told.content) if told else "", configs.written(shown.content))


def changes(before: str, after: str) -> list[Change]:
    """Line by line, with three lines round each change; [] where nothing differs."""
    # Not splitlines(): it cuts at characters that are no line breaks to anybody else.
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    found: list[Change] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            found.append(Change("skip", ""))
        for op, a, b, c, d in group:
            if op == "equal":
                found += [Change("same", line) for line in old[a:b]]
            else:
                found += [Change("gone", line) for line in old[a:b]] + [Change("new", line) for line in new[c:d]]
    return found


def _find(membership: Membership, slug: str) -> Agent:
    found = Agent.objects.filter(project=membership.project, slug=slug, archived_at=None).first()
    if found is None:
        raise Http404
    return found
