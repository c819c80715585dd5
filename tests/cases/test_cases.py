"""Every case of the file, played through the product's doors. What is not built is skipped by its name."""

from __future__ import annotations

import pytest

from tests.cases.conftest import NOT_BUILT
from tests.cases.playing import verdict
from tests.cases.script import Case


def test_case(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    faults, missing = verdict(case, monkeypatch)
    assert not faults, f"{case.id} {case.kind}: {case.gist}\n" + "\n".join(faults)
    if missing:
        pytest.skip(f"{NOT_BUILT}{', '.join(dict.fromkeys(missing))}")
