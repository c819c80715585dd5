"""What an owner types about who reads the sessions of a project."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.translation import gettext as _

from memory.distillers.hosted.prices import DEFAULTS
from projects.models import Project
from projects.words import later

MOST_TOKENS = 2_000_000_000


class DistillerForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("distiller", "distiller_model", "local_only", "daily_token_cap")
        labels = {
            "distiller": later("Sessions are read by"),
            "distiller_model": "Model",
            "local_only": later("Local only: nothing of this project is ever sent to a provider"),
            "daily_token_cap": later("Tokens to and from the provider in one day"),
        }
        help_texts = {
            "distiller_model": (
                later("As the provider writes it. Empty: %(defaults)s of Anthropic, %(defaults2)s of OpenAI.")
                % {"defaults": DEFAULTS["anthropic"], "defaults2": DEFAULTS["openai"]}
            ),
            "local_only": later("Whatever is chosen above."),
            "daily_token_cap": later(
                "The day begins at midnight UTC. Past the limit the local reader takes over until then."
            ),
        }
        widgets = {
            "distiller": forms.Select({"class": "select"}),
            "distiller_model": forms.TextInput(
                {"class": "input", "autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
            ),
            "local_only": forms.CheckboxInput({"class": "input"}),
            "daily_token_cap": forms.NumberInput({"class": "input"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["daily_token_cap"].validators.append(MaxValueValidator(MOST_TOKENS))

    def clean_distiller_model(self) -> str:
        name = str(self.cleaned_data["distiller_model"]).strip()
        if any(not letter.isprintable() or letter.isspace() for letter in name):
            raise forms.ValidationError(_("A model's name has no blanks in it."))
        return name
