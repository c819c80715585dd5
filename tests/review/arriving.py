"""What tests of "on arrival" share: a rule for fixes, and fixes that a reader found in a coding session."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory.models import Fact
from review.deciding import policy
from review.deciding.policy import Level, Policy, Rule
from tests import factories
from tests.factories import Cast


def rule_for(cast: Cast, now: datetime, type_name: str = "fix") -> Rule:
    """Olga switches "on arrival" on, whatever the record says."""
    policy.change(
        cast.project,
        seen=Policy.of(cast.project).version,
        by=cast.olga,
        now=now - timedelta(minutes=5),
        levels={type_name: Level.ARRIVAL},
    )
    return Policy.of(cast.project).rules[type_name]


def found(cast: Cast, number: int, *, text: str = "", said: str = "", now: datetime, **fields: Any) -> Fact:
    """A fix of one repository, read from what a command printed, with nothing to look at twice."""
    sentence = text or f"Step {number} of the build needs port {5000 + number}."
    session = factories.session(cast.coder, f"run-{number}", now=now)
    kind = fields.pop("kind", "tool_result")
    role = fields.pop("role", "tool")
    row = factories.observation(session, said or sentence, kind=kind, role=role, tool="Bash", now=now)
    return factories.proposal(
        cast.project,
        sentence,
        about=fields.pop("about", "repo:orders-api"),
        key=fields.pop("key", f"fix:step.{number}"),
        agent=fields.pop("agent", cast.coder),
        quote=fields.pop("quote", row),
        distiller="local",
        prompt_version="3",
        now=now,
        **fields,
    )
