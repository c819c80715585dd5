"""A person's own page: how the desk speaks to them, and where they are signed in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from projects import sign_ins
from projects.models import Person
from review.insights import own_pace
from review.pages.settings_forms import zones

YEAR_SECONDS = 365 * 24 * 3600
# What the list of zones says for "none of one's own".
OF_PROJECT = "project"


class Profile(forms.ModelForm):
    """What a person chooses for themselves."""

    keys_on = forms.BooleanField(
        label=gettext_lazy("Keys on the desk: one press decides"),
        required=False,
        help_text=gettext_lazy("Every button can be reached without them."),
        widget=forms.CheckboxInput({"class": "input"}),
    )

    class Meta:
        model = Person
        fields = ("name", "timezone", "theme", "wants_digest", "wants_alerts")
        labels = {
            "name": gettext_lazy("Name"),
            "wants_digest": gettext_lazy("One mail a day, and only when something waits"),
            "wants_alerts": gettext_lazy(
                "A mail at once: a complaint, a card put before you, a commitment that is due"
            ),
        }
        help_texts = {
            "name": gettext_lazy("Stands on the line of what you countersign."),
            "wants_alerts": gettext_lazy("Both carry numbers and a link, never a sentence or a name."),
        }
        widgets = {
            "name": forms.TextInput({"class": "input", "autocomplete": "name"}),
            "wants_digest": forms.CheckboxInput({"class": "input"}),
            "wants_alerts": forms.CheckboxInput({"class": "input"}),
        }

    field_order = ("name", "timezone", "theme", "keys_on", "wants_digest", "wants_alerts")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["timezone"] = forms.ChoiceField(
            label=_("Time zone"),
            choices=[(OF_PROJECT, _("As the project")), *zones(self.instance.timezone)],
            help_text=_("Dates and hours are shown in it, and a memory put off comes back when its day begins there."),
            widget=forms.Select({"class": "select"}),
        )
        self.fields["theme"] = forms.ChoiceField(
            label=_("Theme"),
            choices=[("light", _("Light")), ("dark", _("Dark")), ("system", _("As the system"))],
            widget=forms.Select({"class": "select"}),
        )
        self.initial["timezone"] = self.instance.timezone or OF_PROJECT
        self.initial.setdefault("keys_on", not self.instance.keys_off)
        self.order_fields(self.field_order)

    def clean_timezone(self) -> str:
        chosen = str(self.cleaned_data["timezone"])
        return "" if chosen == OF_PROJECT else chosen


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    person = _person(request)
    form = Profile(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        person.keys_off = not form.cleaned_data["keys_on"]
        person.save(update_fields=["name", "timezone", "theme", "wants_digest", "wants_alerts", "keys_off"])
        messages.success(request, _("Kept. It holds in every browser you sign in with."))
        return remember(redirect("review:profile"), person)
    context = {
        "form": form,
        "sign_ins": sign_ins.of(person, request, timezone.now()),
        "mail_is_sent": settings.MAIL_IS_SENT,
        "pace": _pace(request),
    }
    return render(request, "review/profile.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def keys_switch(request: HttpRequest) -> HttpResponse:
    """Keys off or on, as the sheet under `?` turns them."""
    wanted = request.POST.get("keys")
    if wanted not in ("on", "off"):
        return HttpResponse(status=422)
    Person.objects.filter(pk=_person(request).pk).update(keys_off=wanted == "off")
    return HttpResponse(status=204)


@require_POST
@login_required
def sign_out_there(request: HttpRequest, pk: int) -> HttpResponse:
    """Signs one other browser of this person out."""
    if not sign_ins.end(_person(request), pk):
        raise Http404
    messages.success(request, _("Signed out there."))
    return redirect("review:profile")


@require_POST
@login_required
def sign_out_elsewhere(request: HttpRequest) -> HttpResponse:
    count = sign_ins.end_others(_person(request), request)
    said = ngettext("Signed out in %(count)s other browser.", "Signed out in %(count)s other browsers.", count)
    messages.success(request, said % {"count": count})
    return redirect("review:profile")


def remember(answer: HttpResponse, person: Person) -> HttpResponse:
    """Theme and keys in this browser's cookies too, for the pages that know nobody: the door, and errors."""
    for name, value, is_hidden in (("theme", person.theme, True), ("keys", "off" if person.keys_off else "on", False)):
        answer.set_cookie(
            name,
            value,
            max_age=YEAR_SECONDS,
            samesite="Lax",
            httponly=is_hidden,
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return answer


def _pace(request: HttpRequest) -> own_pace.Pace | None:
    """Theirs, in the projects where they decide; None for who decides nowhere."""
    reviewed = [row.project_id for row in request.memberships if row.can_review]  # type: ignore[attr-defined]
    return own_pace.of(_person(request), reviewed, timezone.now()) if reviewed else None


def _person(request: HttpRequest) -> Person:
    """The reader as a row of their own: a form that is refused must not change what the frame shows."""
    person: Person = Person.objects.get(pk=request.user.pk)  # type: ignore[misc]
    return person
