"""What an owner types about a kind of memory, and what each cell of the table means in words."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from memory.types import MOST_DAYS, SEEN, SINGLE_VALUED, START, USED, FactType
from projects.words import later

COUNTS_FROM = {
    START: later("the day it was proposed or confirmed"),
    SEEN: later("the last time it was seen in a session"),
    USED: later("the last time it was seen or was in a brief"),
}
NUMBER = {"class": "input", "inputmode": "numeric"}


def _days(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        help_text=help_text,
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        widget=forms.NumberInput(NUMBER),
    )


def _tick(label: str, help_text: str = "") -> forms.BooleanField:
    return forms.BooleanField(
        label=label, help_text=help_text, required=False, widget=forms.CheckboxInput({"class": "input"})
    )


class TypeForm(forms.Form):
    """One row of the table. `seen` is what stood there when the page was made, `agreed` the effects that it told."""

    words = forms.CharField(
        label=later("What people call it"),
        max_length=40,
        widget=forms.TextInput({"class": "input", "autocomplete": "off"}),
    )
    lifetime_days = _days(later("Days it lives"), later("Empty: no end."))
    counts_from = forms.ChoiceField(
        label=later("They count from"), choices=list(COUNTS_FROM.items()), widget=forms.Select({"class": "select"})
    )
    after_due_days = _days(
        later("Days it lives on after it is due"),
        later("Only for what says when it is due; it then ends by that day instead."),
    )
    ask_again_days = _days(
        later("Days until “still true?” is asked"),
        later("Empty: never. Asked two weeks before it ends at the latest; it stays in use meanwhile."),
    )
    half_life_days = _days(later("Days until it counts for half in a brief"), later("Empty: it does not fade."))
    single_valued = _tick(later("One value per key: a new one replaces the old one"))
    own_agent_only = _tick(later("Proposed for the one agent it came from"))
    one_by_one = _tick(later("Reviewed one by one, never as a list"))
    is_sought = _tick(later("Readers look for it in sessions"))
    seen = forms.CharField(widget=forms.HiddenInput())
    agreed = forms.CharField(required=False, widget=forms.HiddenInput())

    def __init__(self, data: Any = None, *, row: FactType, **kwargs: Any) -> None:
        cells = {name: getattr(row, name) for name in self.base_fields if name not in ("seen", "agreed")}
        super().__init__(data, initial={**cells, "seen": fingerprint(row)}, **kwargs)
        if row.name in SINGLE_VALUED:
            self.fields["single_valued"].disabled = True
            self.fields["single_valued"].help_text = _("So it is in every project.")

    def cells(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name not in ("seen", "agreed")}


class NewType(forms.Form):
    name = forms.CharField(
        label=later("Name"),
        max_length=40,
        help_text=later("As agents send it, such as incident or opening_hours. It cannot be changed later."),
        widget=forms.TextInput(
            {"class": "input", "autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )


def fingerprint(row: FactType) -> str:
    """Tells whether the row is still the one a page was made of."""
    return repr(astuple(row))


def lives(row: FactType) -> str:
    """`90 days after it was last seen or in a brief`, `no end`."""
    after = {START: "", SEEN: _(" after it was last seen"), USED: _(" after it was last seen or in a brief")}[
        row.counts_from
    ]
    plain = "no end" if row.lifetime_days is None else f"{_count(row.lifetime_days)}{after}"
    if row.after_due_days is None:
        return plain
    return _("%(after_due_days)s after it is due, else %(plain)s") % {
        "after_due_days": _count(row.after_due_days),
        "plain": plain,
    }


def asked(row: FactType) -> str:
    return "never" if row.ask_again_days is None else f"after {_count(row.ask_again_days)}"


def fades(row: FactType) -> str:
    return (
        "no"
        if row.half_life_days is None
        else (_("by half in %(half_life_days)s") % {"half_life_days": _count(row.half_life_days)})
    )


def _count(days: int) -> str:
    return f"{days:,} day{'' if days == 1 else 's'}"
