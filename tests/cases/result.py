"""What one step of a case came to, and how the runner says that it cannot judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.cases.script import Step


class NotBuilt(Exception):
    """The product has no such thing yet (or the runner knows no such op): the case is reported by this name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(slots=True)
class Result:
    """`http` is the answer's status (a command's exit code as one), `body` its JSON or the page's text, `facts` the row
    ids of the facts that came, in order; `notes` what else an expectation may ask about."""

    op: str
    step: Step
    http: int | None = None
    body: Any = None
    facts: list[int] = field(default_factory=list)
    rows: int | None = None
    by: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The answer as its reader sees it."""
        return self.body if isinstance(self.body, str) else repr(self.body)

    @property
    def refused(self) -> bool:
        return self.http is not None and self.http >= 400
