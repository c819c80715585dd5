"""Bullets of CLAUDE.md and its like."""

from __future__ import annotations

import pytest

from memory.existing import read

FILE = """---
description: rules
globs: "*.py"
---
# Project

Some prose that explains.

## Database
- Postgres 17 runs on **port 5434**
- Migrations:
  - run `make migrate` before the deploy
  * never edit one that was released
1. Tests need `make seed`
   first, or they hang
- [x] Ask Ana before you touch billing

```sh
- this is code
```

<!-- - a comment
- and its second line -->
| - | a table |
- - -
+ Answers go out in EUR.
and so do offers.
"""


def test_every_bullet_is_one_memory_and_nothing_else_is() -> None:
    found = read("CLAUDE.md", FILE.encode())
    assert [line.text for line in found.lines] == [
        "Postgres 17 runs on port 5434",
        "Migrations: run `make migrate` before the deploy",
        "Migrations: never edit one that was released",
        "Tests need `make seed` first, or they hang",
        "Ask Ana before you touch billing",
        "Answers go out in EUR. and so do offers.",
    ]
    assert found.skipped == {"introduction": 1, "prose": 1}
    assert found.format == "markdown"
    assert found.lines[0].number == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- one\r\n- two\r\n", ["one", "two"]),
        ("* [f-2k81hd] Refunds need a release. (9 sessions)", ["Refunds need a release. (9 sessions)"]),
        ("- a:\n\t- b:\n\t\t- c\n\t- d\n- e", ["a: b: c", "a: d", "e"]),
        ("-no bullet\n-\n- \n", []),
        ("- unclosed\n```\n- code", ["unclosed"]),
        ("~~~\n- code\n```\n- still code\n~~~\n- after", ["after"]),
        ("- ends with a colon:", ["ends with a colon:"]),
        ("\ufeff- with a mark", ["with a mark"]),
        ("- café \u2028 → 🚀", ["café \u2028 → 🚀"]),
        ("---\n- in a front that never ends", []),
        ("- snake_case_name and 2 * 3 * 4 stay", ["snake_case_name and 2 * 3 * 4 stay"]),
    ],
)
def test_odd_files(text: str, said: list[str]) -> None:
    assert [line.text for line in read("AGENTS.md", text.encode()).lines] == said
