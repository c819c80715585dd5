"""A few rounds of the benchmark that kills readings, three of them through a real queue, on a Postgres of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.crash, pytest.mark.process, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]


def test_no_lesson_is_lost_or_doubled_when_readers_and_queues_are_killed() -> None:
    command = [sys.executable, "-m", "benchmarks.kill_rounds", "--rounds", "4", "--cluster-rounds", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["kills"], told["lost"], told["duplicates"]) == (6, 0, 0)
    assert (told["poison_status"], told["poison_starts"]) == ("failed", 3)
