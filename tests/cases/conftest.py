"""The field cases: which file is played, one test a case, and the list of what is not built at the end.

`pytest tests/cases` plays the cases beside this file, `pytest tests/cases --cases FILE` those of another (the option
may be given several times).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.cases.script import read

OURS = Path(__file__).parent / "cases.jsonl"
NOT_BUILT = "not built: "
# Several at once, or a process that is killed, need rows that are really committed.
COMMITTING = frozenset({"parallel", "capture_many", "restart_workers", "fail_next_db_write"})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        action="append",
        metavar="FILE",
        help="play the cases of this file instead of tests/cases/cases.jsonl",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    files = [Path(name) for name in metafunc.config.getoption("cases", None) or [OURS]]
    cases = [case for file in files for case in read(file)]
    parameters = []
    for case in cases:
        commits = any(step["op"] in COMMITTING for step in case.every_step())
        mark = pytest.mark.django_db(transaction=commits, databases="__all__")
        parameters.append(pytest.param(case, id=f"{case.id}-{case.kind}", marks=mark))
    metafunc.parametrize("case", parameters)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what is not built, how many cases ask for it, and of which kinds."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if NOT_BUILT in reason and "test_case[" in report.nodeid:
            kind = report.nodeid.rpartition("[")[2].rstrip("]").split("-", 2)[-1]
            for name in reason.partition(NOT_BUILT)[2].split(", "):
                kinds[name].append(kind)
    if kinds:
        terminalreporter.section("field cases: not built")
        for name, asked in sorted(kinds.items(), key=lambda one: (-len(one[1]), one[0])):
            terminalreporter.line(f"{name}: {len(asked)} cases ({', '.join(sorted(set(asked)))})")
