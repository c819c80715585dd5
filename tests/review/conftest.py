"""What tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from projects import tenancy


@pytest.fixture
def sight(db: None) -> Iterator[None]:
    """The test itself looks at everything; each request sees what its person may see."""
    with tenancy.system("command"):
        yield
