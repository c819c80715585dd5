"""A memory written by a person: from nothing, or from words of a transcript they marked ("Remember this")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from memory import proposals, short_ids
from memory.models import BadSubject, FactChanged, NotAllowed, Observation, Session, Subject, Verb
from memory.models.subject import split
from memory.types import FactType, table
from projects.models import Agent, Membership, Role
from review.deciding import decisions, remembering
from review.pages import drafts
from review.pages.access import find_session, project_page
from review.pages.draft_pages import keeps_form, words_of_form

SENTENCE = 240


class NewFact(forms.Form):
    """A memory written by hand."""

    text = forms.CharField(
        label=gettext_lazy("The sentence"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "textarea", "dir": "auto"}),
        help_text=gettext_lazy("One sentence."),
    )
    subject = forms.CharField(
        label=gettext_lazy("About"),
        required=False,
        max_length=340,
        help_text=gettext_lazy("Such as customer:cust_123 or repo:orders-api. Empty: the project."),
    )
    type = forms.ChoiceField(label=gettext_lazy("Type"))
    key = forms.CharField(
        label=gettext_lazy("Key"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("Such as timezone or contact.channel. Empty: made from the sentence."),
    )
    agent = forms.MultipleChoiceField(
        label=gettext_lazy("Goes to"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: everyone."),
    )

    def __init__(self, *args: Any, agents: Iterable[Agent], types: Iterable[FactType], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["type"].choices = [(row.name, row.words) for row in types]  # type: ignore[attr-defined]
        for name, css in (("subject", "input"), ("type", "select"), ("key", "input")):
            self.fields[name].widget.attrs["class"] = css
        self.fields["agent"].widget.attrs["class"] = "input"
        self.fields["agent"].choices = [(str(agent.pk), agent.slug) for agent in agents]  # type: ignore[attr-defined]


class MarkedFact(NewFact):
    """The same, with the words it rests on."""

    quote = forms.CharField(
        label=gettext_lazy("The words it rests on"),
        max_length=20_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "textarea", "dir": "auto"}),
        help_text=gettext_lazy("As they stand in the transcript; you may shorten them."),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@keeps_form
@project_page(Role.VIEWER)
def new(request: HttpRequest, membership: Membership) -> HttpResponse:
    """`?about=` a subject's short id, to begin with."""
    begun: dict[str, Any] = {}
    about = short_ids.decode(request.GET.get("about", ""), "c")
    if about and (subject := Subject.objects.filter(pk=about, project=membership.project).first()):
        begun["subject"] = str(subject)
    if request.method != "POST":
        begun |= _begun(words_of_form(request))
    form = NewFact(request.POST or None, initial=begun, **_terms(membership))
    if request.method == "POST" and form.is_valid() and (answer := _written(request, membership, form, None)):
        return answer
    return _page(request, form)


@require_http_methods(["GET", "HEAD", "POST"])
@keeps_form
@login_required
def remember(request: HttpRequest, short_id: str) -> HttpResponse:
    """The form for words of one turn: `o` names the observation, `words` what was marked in it (by POST, for they may
    be personal). Without words the whole turn is the quote, to be shortened."""
    session, membership = find_session(request, short_id)
    given = request.POST if request.method == "POST" else request.GET
    observation = _observation(session, given.get("o", ""))
    context = {"session": session, "session_id": short_id, "observation_id": given.get("o", "")}
    if "text" in request.POST:
        form = MarkedFact(request.POST, **_terms(membership))
        if form.is_valid():
            marked = remembering.mark(observation, form.cleaned_data["quote"].strip())
            if marked is None:
                form.add_error("quote", _("These words do not stand in that turn. Copy them from the transcript."))
            elif answer := _written(request, membership, form, marked):
                return answer
        return _page(request, form, **context)
    words = request.POST.get("words", "")
    marked = remembering.mark(observation, words) if words else None
    quote = marked.quote if marked else observation.text.strip()
    said = " ".join(quote.split())
    about = _about(session)
    begun = {
        "quote": quote,
        "text": said if len(said) <= SENTENCE else "",
        "subject": str(about) if about else "",
        "type": "customer_fact" if about and about.entity_type == "customer" else "note",
    }
    if request.method != "POST":
        begun |= _begun(words_of_form(request))
    if words and marked is None:
        context["lost"] = True
    return _page(request, MarkedFact(initial=begun, **_terms(membership)), **context)


def _observation(session: Session, short_id: str) -> Observation:
    pk = short_ids.decode(short_id, "o")
    found = session.observations.filter(pk=pk).first() if pk else None
    if found is None or not found.may_be_evidence or not found.text.strip():
        raise Http404
    return found


def _about(session: Session) -> Subject | None:
    """Whom words of this session are most likely about: a customer before a person, a person before a place."""
    order = {"customer": 0, "person": 2, "repo": 3}
    found = sorted(session.subjects.all(), key=lambda one: (order.get(one.entity_type, 1), one.pk))
    return found[0] if found else None


def _terms(membership: Membership) -> dict[str, Any]:
    project = membership.project
    return {"agents": project.agents.filter(archived_at__isnull=True), "types": table(project.types).values()}


def _written(
    request: HttpRequest, membership: Membership, form: NewFact, marked: remembering.Marked | None
) -> HttpResponse | None:
    """Where to go when it was written; None, with the errors on the form, when it was not."""
    try:
        outcome = _remember(membership, form.cleaned_data, marked)
    except BadSubject as problem:
        form.add_error("subject", str(problem))
    except (decisions.BadDecision, proposals.BadProposal) as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
    except (NotAllowed, FactChanged) as problem:
        form.add_error(None, str(problem))
    else:
        drafts.drop_form(request)
        messages.success(request, _what_became(outcome))
        return redirect("review:fact", outcome.fact.short_id)
    return None


def _what_became(outcome: decisions.Outcome) -> str:
    if outcome.fact.is_current:
        return _("Countersigned. Agents get it with their next brief.")
    if outcome.decision.verb == Verb.FIRST_YES:
        return _(
            "It reads like an instruction, and no person said it: yours is the first yes, a second person decides."
        )
    return _("Proposed. A reviewer decides.")


def _remember(membership: Membership, data: dict[str, Any], marked: remembering.Marked | None) -> decisions.Outcome:
    project = membership.project
    written = data["subject"].strip()
    subject = Subject.objects.resolve(project.pk, *split(written)) if written else Subject.objects.of_project(project)
    text = decisions.clean_sentence(data["text"])
    words = "".join(char if char.isalnum() else " " for char in text.casefold()).split()
    key = data["key"].strip() or "_".join(words[:6])[:80] or "note"
    agent_ids = [int(pk) for pk in data["agent"]]
    return remembering.remember(
        membership,
        subject=subject,
        type=data["type"],
        key=proposals.full_key(data["type"], key),
        text=text,
        everyone=not agent_ids,
        agent_ids=agent_ids,
        now=timezone.now(),
        marked=marked,
    )


def _begun(kept: dict[str, list[str]]) -> dict[str, Any]:
    """What was kept, as the form begins with it."""
    return {name: values if name == "agent" else values[0] for name, values in kept.items() if values}


def _page(request: HttpRequest, form: NewFact, **context: Any) -> HttpResponse:
    status = 422 if form.errors else 200
    if status == 422:
        drafts.keep_form(request)
    membership: Membership = request.membership  # type: ignore[attr-defined]
    author = drafts.author(membership.person)
    context |= {"section": "memory", "form": form, "can_review": membership.can_review, "author": author}
    return render(request, "review/new_fact.html", context, status=status)
