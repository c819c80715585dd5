"""What a case may expect, each expectation carried out once for all cases."""

from __future__ import annotations

from tests.cases.expect import (
    audit,
    briefs,
    choices,
    dates,
    evidence,
    facts,
    http,
    imports,
    jobs,
    observations,
    pages,
    reads,
    secrets,
    subjects,
    vectors,
)
from tests.cases.expect.judge import faults

__all__ = [
    "audit",
    "briefs",
    "choices",
    "dates",
    "evidence",
    "facts",
    "faults",
    "http",
    "imports",
    "jobs",
    "observations",
    "pages",
    "reads",
    "secrets",
    "subjects",
    "vectors",
]
