"""Who reads a project's sessions: the local reader, or a provider's model that its owner chose."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from memory import spending
from memory.distillers.hosted.anthropic import AnthropicModel
from memory.distillers.hosted.calls import Model
from memory.distillers.hosted.openai import OpenAIModel
from memory.distillers.hosted.prices import DEFAULTS
from projects.models import Project
from projects.models.project import DistillerName

LOCAL = DistillerName.LOCAL.value


@dataclass(frozen=True, slots=True)
class Choice:
    """`provider` is `local`, `anthropic` or `openai`. `fell_back` says why the local reader stands in for a provider
    that was chosen: `local_only`, `no_key` or `daily_cap`, else ""."""

    provider: str
    model: str = ""
    fell_back: str = ""

    @property
    def is_hosted(self) -> bool:
        return self.provider != LOCAL


def choose(project: Project, now: datetime, *, tokens: int = 0) -> Choice:
    """Who reads next. `tokens` is what the next question alone would cost."""
    if project.distiller == LOCAL:
        return Choice(LOCAL)
    if project.local_only:
        return Choice(LOCAL, fell_back="local_only")
    if not has_key(project.distiller):
        return Choice(LOCAL, fell_back="no_key")
    if spending.spent_today(project.pk, now) + tokens >= project.daily_token_cap:
        return Choice(LOCAL, fell_back="daily_cap")
    return Choice(project.distiller, project.distiller_model or DEFAULTS[project.distiller])


def has_key(provider: str) -> bool:
    """Whether this installation can reach the provider: a key is set, or a server of one's own that may want none."""
    if provider == DistillerName.ANTHROPIC:
        return bool(settings.ANTHROPIC_API_KEY)
    return bool(settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL)


def model_of(choice: Choice) -> Model:
    """The provider's model, ready to be asked. Nothing is sent yet."""
    if choice.provider == DistillerName.ANTHROPIC:
        return AnthropicModel(choice.model, key=settings.ANTHROPIC_API_KEY, base_url=settings.ANTHROPIC_BASE_URL)
    return OpenAIModel(choice.model, key=settings.OPENAI_API_KEY, base_url=settings.OPENAI_BASE_URL)
