"""What each op of a case does, mapped once, through a public door where there is one."""

from __future__ import annotations

from tests.cases.ops import (
    bulk,
    capture,
    decisions,
    distill,
    erasing,
    facts,
    importing,
    pages,
    parallel,
    raw,
    reading,
    seams,
    setting_up,
    times,
)
from tests.cases.ops.registry import play

__all__ = [
    "bulk",
    "capture",
    "decisions",
    "distill",
    "erasing",
    "facts",
    "importing",
    "pages",
    "parallel",
    "play",
    "raw",
    "reading",
    "seams",
    "setting_up",
    "times",
]
