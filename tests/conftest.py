"""The test run's own Postgres, one cast for all, and the walls: no network."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.utils import timezone

from tests import factories
from tests.chromium import chromium  # noqa: F401 (a fixture)
from tests.factories import Cast
from tests.settings import OWNS_DATA

# CI draws the same examples each time: whoever changed nothing breaks nothing. By hand they are drawn anew.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI") == "true":
    hypothesis.settings.load_profile("ci")

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def pytest_configure(config: pytest.Config) -> None:
    # What the tests start as processes reads the product's own settings (with this run's data folder).
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    if hasattr(config, "workerinput") or os.environ.get("DATABASE_URL"):
        return
    from config import embedded

    # A test database may be lost with the machine: without fsync the run is a minute shorter.
    embedded.ensure_running(
        Path(os.environ["COUNTERSIGN_DATA"]),
        {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"},
        owned=True,
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not OWNS_DATA:
        return
    import shutil

    from config import embedded

    folder = Path(os.environ["COUNTERSIGN_DATA"])
    if not os.environ.get("DATABASE_URL"):
        embedded.stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every database test may use both aliases: `default` under row-level security, `owner` above it."""
    for item in items:
        marks = list(item.iter_markers("django_db"))
        for mark in marks:
            mark.kwargs.setdefault("databases", "__all__")
        if not marks and "db" in getattr(item, "fixturenames", ()):
            # Asked for by a fixture alone; without any mark in a selection no test database would be made.
            item.add_marker(pytest.mark.django_db(databases="__all__"))
    # The few that start servers go first, so that the other worker is not left waiting for them at the end.
    items.sort(key=lambda item: not any(item.iter_markers(name) for name in ("browser", "crash", "process")))


def pytest_collection_finish(session: pytest.Session) -> None:
    # What is loaded by now stays to the end: looked through again and again it cost a tenth of the run.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker) -> Iterator[None]:  # type: ignore[no-untyped-def]
    """Closes the second alias first: a database that somebody is connected to cannot be dropped."""
    yield
    from django.db import connections

    with django_db_blocker.unblock():
        connections["default"].close()


@pytest.fixture(autouse=True)
def fast_passwords(settings) -> None:  # type: ignore[no-untyped-def]
    """A password hash that is meant to be slow took 0.5 s a person."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def capture_in_this_thread(settings) -> None:  # type: ignore[no-untyped-def]
    """A test inside a transaction would not see what the writer's own connection commits."""
    settings.CAPTURE_WRITER = "inline"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anywhere but this machine fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"A test tried to reach {address[0]}.")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def shared() -> Path:
    """The folder of samples beside the checkout. Skips, and says so, where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"NOT RUN: the samples of {SHARED.name}/ are not beside this checkout.")
    return SHARED


@pytest.fixture
def cast(db: None) -> Cast:
    """Project shop with its people and agents, and another project that must never see it."""
    return factories.cast()


@pytest.fixture
def shop(cast: Cast) -> Iterator[Cast]:
    """The cast, inside a transaction that sees project shop."""
    from projects import tenancy

    with tenancy.project(cast.project.pk):
        yield cast


@pytest.fixture
def now():  # type: ignore[no-untyped-def]
    return timezone.now()
