"""The sample project, and whom to sign in as."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from review import sample


class Command(BaseCommand):
    help = "Load the sample project shop, once, and print whom to sign in as."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            logins = sample.load(timezone.now())
        except (sample.NotTheSample, sample.SampleIncomplete) as refusal:
            raise CommandError(str(refusal)) from None
        for login in logins:
            self.stdout.write(f"login: {login.email} / {login.password or 'the password they chose'}  ({login.does})")
