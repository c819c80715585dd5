"""What people type round the desk: a first visit, an invitation, a project, an agent, a key."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext as _

from projects.models import PERMISSIONS, Agent, Person, Project, Role
from projects.models.project import slug_validator
from projects.words import later

MAY = {"capture": "send what happens", "brief": "read briefs", "propose": "propose memories"}
LIFETIMES = {"30": "30 days", "90": "90 days", "365": "a year", "none": "no end"}
LEAST_BUDGET, MOST_BUDGET = 200, 16_000


def _input(**attributes: str) -> dict[str, str]:
    return {"class": "input", **attributes}


class SignUp(forms.Form):
    """A name and a password, typed twice: a slip cannot be mended where no mail server is set."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(_input(autocomplete="name")))
    password1 = forms.CharField(
        max_length=200, strip=False, widget=forms.PasswordInput(_input(autocomplete="new-password"))
    )
    password2 = forms.CharField(
        max_length=200, strip=False, widget=forms.PasswordInput(_input(autocomplete="new-password"))
    )

    def address(self) -> str:
        """The e-mail the password must not resemble."""
        return ""

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        first, second = given.get("password1"), given.get("password2")
        if first is not None and second is not None and first != second:
            self.add_error("password2", _("This is not the same as above."))
        elif first is not None:
            try:
                validate_password(first, Person(email=self.address(), name=given.get("name", "")))
            except forms.ValidationError as weak:
                self.add_error("password1", weak)
        return given


class Welcome(SignUp):
    """The first visit to an empty installation."""

    code = forms.CharField(
        max_length=40, widget=forms.TextInput(_input(autocomplete="one-time-code", spellcheck="false"))
    )
    email = forms.EmailField(max_length=254, widget=forms.EmailInput(_input(autocomplete="username")))
    field_order = ("code", "email", "name", "password1", "password2")

    def address(self) -> str:
        return str(self.cleaned_data.get("email", ""))


class Join(SignUp):
    """What somebody new adds to an invitation, whose address is fixed."""

    def __init__(self, data: Any = None, *, email: str) -> None:
        super().__init__(data)
        self.email = email

    def address(self) -> str:
        return self.email


class Invite(forms.Form):
    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(_input(autocomplete="off", spellcheck="false"))
    )
    role = forms.ChoiceField(
        label=later("Role"),
        choices=[
            (Role.VIEWER, later("Viewer: reads, and issues keys in their own name")),
            (Role.REVIEWER, later("Reviewer: decides what agents may know")),
            (Role.OWNER, later("Owner: also people, agents and keys")),
        ],
        initial=Role.REVIEWER,
        widget=forms.Select({"class": "select"}),
    )


class ChangeRole(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


_CONTINENTS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


def _zones() -> list[tuple[str, str]]:
    """UTC and the zones named after places; the rest are old spellings, fixed offsets, and what a machine is set to."""
    places = (name for name in zoneinfo.available_timezones() if name.partition("/")[0] in _CONTINENTS and "/" in name)
    return [(name, name.replace("_", " ")) for name in ("UTC", *sorted(places))]


def zones(now: str) -> list[tuple[str, str]]:
    """The zones to choose from, with `now` among them whatever it is called."""
    known = _zones()
    return known if not now or (now, now.replace("_", " ")) in known else [(now, now), *known]


class NewProject(forms.Form):
    name = forms.CharField(label=later("Name"), max_length=120, widget=forms.TextInput(_input(autocomplete="off")))
    slug = forms.CharField(
        label=later("Short name"),
        max_length=50,
        validators=[slug_validator],
        help_text=later("Stands in addresses and in what agents read. It cannot be changed later."),
        widget=forms.TextInput(_input(autocomplete="off", spellcheck="false", autocapitalize="none")),
    )
    timezone = forms.ChoiceField(
        label=later("Time zone"),
        choices=_zones,
        initial="UTC",
        help_text=later("Days end here: a memory lives through its last day."),
        widget=forms.Select({"class": "select"}),
    )
    owner = forms.EmailField(
        label=later("Owner’s e-mail"),
        max_length=254,
        help_text=later("Another address than yours gets a link, which is shown to you once."),
        widget=forms.EmailInput(_input(autocomplete="off", spellcheck="false")),
    )


class ProjectSettings(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "timezone", "idle_minutes", "brief_budget_tokens")
        labels = {
            "name": "Name",
            "timezone": later("Time zone"),
            "idle_minutes": later("A session is read after this many quiet minutes"),
            "brief_budget_tokens": later("A brief holds this many tokens"),
        }
        help_texts = {
            "timezone": later("Days end here: a memory lives through its last day."),
            "brief_budget_tokens": later("Where the agent itself names no number."),
        }
        widgets = {
            "name": forms.TextInput(_input(autocomplete="off")),
            "idle_minutes": forms.NumberInput(_input()),
            "brief_budget_tokens": forms.NumberInput(_input()),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A zone that a command set stays, whatever it is called.
        self.fields["timezone"] = forms.ChoiceField(
            label=self.fields["timezone"].label,
            help_text=self.fields["timezone"].help_text,
            choices=zones(self.instance.timezone),
            widget=forms.Select({"class": "select"}),
        )
        self.fields["brief_budget_tokens"].validators += [
            MinValueValidator(LEAST_BUDGET),
            MaxValueValidator(MOST_BUDGET),
        ]


class NewAgent(forms.Form):
    slug = forms.CharField(
        label=later("Name"),
        max_length=50,
        validators=[slug_validator],
        help_text=later("Such as support, sales or claude-code. Lower-case letters, digits and hyphens."),
        widget=forms.TextInput(_input(autocomplete="off", spellcheck="false", autocapitalize="none")),
    )


class NewKey(forms.Form):
    """A key for one agent. Without `holders` it is issued in the reader's own name."""

    agent = forms.ModelChoiceField(
        label=later("For"), queryset=Agent.objects.none(), empty_label=None, widget=forms.Select({"class": "select"})
    )
    holder = forms.TypedChoiceField(label=later("In the name of"), coerce=int, widget=forms.Select({"class": "select"}))
    permissions = forms.MultipleChoiceField(
        label=later("It may"),
        choices=[(name, MAY[name]) for name in PERMISSIONS],
        initial=list(PERMISSIONS),
        error_messages={"required": later("Tick at least one; a key that may do nothing is none.")},
        widget=forms.CheckboxSelectMultiple({"class": "input"}),
    )
    lifetime = forms.ChoiceField(
        label=later("It lives"),
        choices=list(LIFETIMES.items()),
        initial="90",
        widget=forms.Select({"class": "select"}),
    )
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput())

    def __init__(self, data: Any = None, *, project: Project, holders: Iterable[Person], **kwargs: Any) -> None:
        super().__init__(data, auto_id="key_%s", **kwargs)
        self.fields["agent"].queryset = Agent.objects.filter(project=project, archived_at=None)  # type: ignore[attr-defined]
        people = [(person.pk, person.short_name) for person in holders]
        if people:
            self.fields["holder"].choices = people  # type: ignore[attr-defined]
        else:
            del self.fields["holder"]

    def lifetime_or_none(self) -> timedelta | None:
        days = self.cleaned_data["lifetime"]
        return None if days == "none" else timedelta(days=int(days))
