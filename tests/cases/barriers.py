"""Holds several at a place in the code until all are there, or until it is sure that a lock keeps the others out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memory.models import Fact
from projects.models import Agent, Project
from tests.cases.result import NotBuilt

# Nobody comes any more: whoever is missing waits for a lock that those here hold.
PATIENCE_SECONDS = 1.0
# What follows right after the check that a barrier is named for.
PLACES: dict[str, tuple[tuple[type, str], ...]] = {
    "after_dup_check": ((Fact, "propose"),),
    "after_exists_check": ((Project, "save"), (Agent, "save")),
}


@contextmanager
def held(name: str | None, count: int) -> Iterator[None]:
    """While inside, the first `count` callers at the barrier's place go on together. Raises NotBuilt."""
    if name is None:
        yield
        return
    if name not in PLACES:
        raise NotBuilt(f"barrier {name}")
    barrier = threading.Barrier(count)

    def wait_and(call: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(*args: Any, **kwargs: Any) -> Any:
            try:
                barrier.wait(PATIENCE_SECONDS)
            except threading.BrokenBarrierError:
                pass
            return call(*args, **kwargs)

        return waiting

    with pytest.MonkeyPatch.context() as patch:
        for owner, attribute in PLACES[name]:
            real = owner.__dict__.get(attribute, getattr(owner, attribute))
            its = classmethod(wait_and(real.__func__)) if isinstance(real, classmethod) else wait_and(real)
            patch.setattr(owner, attribute, its)
        yield
