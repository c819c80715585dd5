"""The clock of a stage: it stands still until a step moves it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.utils import timezone


class Clock:
    """Takes the place of `django.utils.timezone.now`, which every door of the product reads."""

    def __init__(self, at: datetime, patch: pytest.MonkeyPatch) -> None:
        self.at = at
        patch.setattr(timezone, "now", self.now)

    def now(self) -> datetime:
        return self.at

    def to(self, at: datetime) -> None:
        self.at = at

    def on(self, by: timedelta) -> None:
        self.at += by

    @contextmanager
    def back(self, by: timedelta) -> Iterator[None]:
        """A while ago, for what was made then."""
        before = self.at
        self.at = before - by
        try:
            yield
        finally:
            self.at = before
