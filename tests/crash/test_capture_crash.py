"""kill -9 of web, worker and Postgres while agents send: every accepted observation is there afterwards, none twice."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from config import embedded
from tests.config.processes import REPOSITORY, Up, living, wait_until

pytestmark = [pytest.mark.crash, pytest.mark.xdist_group("crash")]

BATCH = 5
# So many are accepted before each blow, so that it falls into the middle of the work.
BETWEEN_BLOWS = 60


@dataclass
class Agent:
    """Sends batch after batch until told to stop; what was not promised it sends again, with the same ids."""

    port: int
    key: str
    name: str
    accepted: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self) -> None:
        number = 0
        while not self.stop.is_set():
            ids = [f"{self.name}-{number + offset}" for offset in range(BATCH)]
            while not self.stop.is_set():
                books = self.send(ids)
                if books is not None:
                    assert books["accepted"] + books["duplicates"] == BATCH
                    self.accepted += ids
                    break
                self.stop.wait(0.05)
            number += BATCH

    def send(self, ids: list[str]) -> dict[str, int] | None:
        """The books of a 202, else None."""
        observations = [{"id": one, "kind": "message", "role": "user", "text": f"This is {one}."} for one in ids]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(
                "POST",
                f"/api/v1/sessions/{self.name}/observations",
                json.dumps({"observations": observations}),
                {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            self.refusals[type(problem).__name__] += 1
            return None
        finally:
            connection.close()
        if answer.status == 202:
            said: dict[str, int] = json.loads(body)
            return said
        self.refusals[str(answer.status)] += 1
        assert answer.status == 503, body
        return None


@pytest.fixture
def up() -> Iterator[Up]:
    folder = Path(tempfile.mkdtemp(prefix="countersign-crash-"))
    folder.chmod(0o755)
    running = Up(folder)
    try:
        yield running.wait_ready()
    finally:
        running.end()
        embedded.stop(folder)
        shutil.rmtree(folder)


def key_of_an_agent(up: Up) -> str:
    commands = [["create_project", "shop"], ["create_agent", "shop", "support"], ["issue_key", "shop", "support"]]
    script = f"from django.core.management import call_command\nfor command in {commands}: call_command(*command)"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", script, "--data", str(up.data_dir)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip().splitlines()[-1]


def postmaster(up: Up) -> int | None:
    return embedded._postmaster(embedded.locate(up.data_dir))


def web(up: Up) -> int | None:
    return up.child("web")


def worker(up: Up) -> int | None:
    return up.child("worker")


def web_worker(up: Up) -> int | None:
    """One of the processes that answer, not the one that started them."""
    leader = up.child("web")
    return next((pid for pid, command in living(up.data_dir).items() if _child_of(pid, leader)), None)


def _child_of(pid: int, parent: int | None) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(parent)
    except OSError:
        return False


def test_what_was_accepted_survives_kill_9_and_nothing_is_stored_twice(up: Up) -> None:
    key = key_of_an_agent(up)
    agents = [Agent(up.port, key, f"call-{number}") for number in range(3)]
    threads = [threading.Thread(target=agent.work) for agent in agents]
    for thread in threads:
        thread.start()

    def accepted() -> int:
        return sum(len(agent.accepted) for agent in agents)

    try:
        for victims in ([postmaster], [web], [web_worker, worker], [postmaster, web_worker]):
            goal = accepted() + BETWEEN_BLOWS
            assert wait_until(lambda goal=goal: accepted() >= goal), [agent.refusals for agent in agents]
            for pid in [victim(up) for victim in victims]:
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
        goal = accepted() + BETWEEN_BLOWS
        assert wait_until(lambda: accepted() >= goal), [agent.refusals for agent in agents]
    finally:
        for agent in agents:
            agent.stop.set()
        for thread in threads:
            thread.join()
    assert any(agent.refusals for agent in agents), "No blow was felt: the test shows nothing."

    with psycopg.connect(embedded.locate(up.data_dir).dsn()) as connection:
        rows = connection.execute(
            "SELECT s.external_id, o.external_id, o.text FROM memory_observation o"
            " JOIN memory_session s ON s.id = o.session_id"
        ).fetchall()
        counts = dict(connection.execute("SELECT external_id, observation_count FROM memory_session").fetchall())
    stored = Counter((session, one) for session, one, _ in rows)
    assert max(stored.values()) == 1
    assert all(text == f"This is {one}." for _, one, text in rows)
    for agent in agents:
        missing = [one for one in agent.accepted if (agent.name, one) not in stored]
        assert missing == []
        assert counts[agent.name] == sum(session == agent.name for session, _ in stored)
        for start in range(0, len(agent.accepted), BATCH):
            books: list[dict[str, int]] = []
            ids = agent.accepted[start : start + BATCH]
            assert wait_until(
                lambda ids=ids, books=books, agent=agent: (said := agent.send(ids)) and not books.append(said)
            )
            assert (books[0]["accepted"], books[0]["duplicates"]) == (0, BATCH)
