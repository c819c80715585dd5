"""How good is a distiller? Gold sessions through the whole path of distillation, in a project that is rolled back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory import providers, trial
from memory.distillation import Reader
from memory.distillers.hosted import HostedDistiller
from memory.distillers.hosted.prices import DEFAULTS
from memory.distillers.local import LocalDistiller
from memory.scoring import SessionScore, Total

DISTILLERS = (providers.LOCAL, *DEFAULTS)


class Command(BaseCommand):
    help = "Score a distiller on files of gold sessions (JSON lines). Files given together are pooled; nothing is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE")
        parser.add_argument("--distiller", choices=DISTILLERS, default=providers.LOCAL)
        parser.add_argument("--model", default="", help="of a provider; else the one that projects get by default")
        parser.add_argument("--json", action="store_true", help="one JSON object on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            gold = [session for path in options["files"] for session in trial.gold_sessions(path)]
        except trial.NoGold as problem:
            raise CommandError(str(problem)) from None
        try:
            total, scores = trial.score(gold, _reader(options["distiller"], options["model"]))
        except trial.NotRead as problem:
            raise CommandError(str(problem)) from None
        if options["json"]:
            answer = {"total": _total(total), "sessions": [_session(score) for score in scores]}
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
            return
        for score in scores:
            self.stdout.write(
                f"{score.id}: {score.found} of {score.required} found, {len(score.must_not_errors)} forbidden, "
                f"{score.junk} junk"
            )
            for missed in score.missed:
                self.stdout.write(f"  missed {json.dumps(missed, ensure_ascii=False)}")
            for text in score.junk_texts:
                self.stdout.write(f"  junk   {text}")
        self.stdout.write(
            f"recall {total.recall:.2f}, {total.must_not_errors} forbidden, "
            f"{total.junk_per_session:.2f} junk a session, {total.sessions} sessions"
        )


def _reader(name: str, model: str) -> Reader:
    if name == providers.LOCAL:
        return LocalDistiller()
    if not providers.has_key(name):
        raise CommandError(f"No key for {name} is set. Set {name.upper()}_API_KEY; each session is sent to it once.")
    return HostedDistiller(providers.model_of(providers.Choice(name, model or DEFAULTS[name])))


def _total(total: Total) -> dict[str, Any]:
    return {
        **asdict(total),
        "attributes": dict(total.attributes),
        "recall": round(total.recall, 4),
        "junk_per_session": round(total.junk_per_session, 4),
        "type_agreement": round(total.type_agreement, 4),
    }


def _session(score: SessionScore) -> dict[str, Any]:
    return {**asdict(score), "attributes": dict(score.attributes)}
