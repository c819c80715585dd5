from __future__ import annotations

import pytest

from memory.transcript import IncomingSession
from memory.whereabouts import repository_of


@pytest.mark.parametrize(
    ("cwd", "remote", "expected"),
    [
        ("/srv/orders-api", "", "orders-api"),
        ("/srv/orders-api/", "", "orders-api"),
        ("C:\\exp\\retagger", "", "retagger"),
        ("C:\\", "", ""),
        ("/", "", ""),
        ("", "", ""),
        ("/srv/orders-api", "acme/orders-api.git", "acme/orders-api"),
        ("/srv/or\u200bders", "", ""),
        ("/srv/" + "x" * 500, "", ""),
    ],
)
def test_a_repository_is_named_by_its_remote_or_its_folder(cwd: str, remote: str, expected: str) -> None:
    assert repository_of(IncomingSession("s", "claude_code", cwd=cwd, git_remote=remote)) == expected
