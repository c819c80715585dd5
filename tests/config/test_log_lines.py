"""What the log holds of a refusal and of a fault: which page, which error, where. Never a link, never words."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string

from memory import expiry, tasks
from projects import tenancy
from projects.models import Invitation, Role
from review.pages import people_pages
from tests.factories import Cast

WORDS = "Key (text)=(Has the gold plan.) already exists."


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the product's own handler would write."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    made = dict(settings.LOGGING["formatters"]["plain"])
    handler.setFormatter(import_string(made.pop("()"))(made["format"], style=made["style"]))
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)


def link_to(cast: Cast) -> str:
    with tenancy.system("command"):
        _, token = Invitation.objects.invite(cast.project, "new@example.com", Role.VIEWER, cast.olga, timezone.now())
    return f"/invitation/{token}"


def test_no_link_of_an_invitation_is_logged(cast: Cast, log: io.StringIO) -> None:
    link = link_to(cast)
    weak = {"name": "New", "password1": "short", "password2": "short"}
    assert Client().post(link, weak).status_code == 422
    assert Client(enforce_csrf_checks=True).post(link, weak).status_code == 403
    assert Client().get(f"{link}x").status_code == 404
    assert log.getvalue().count("/invitation/<str:token>") == 3
    assert link.rpartition("/")[2] not in log.getvalue()


def test_an_address_that_is_none_is_not_repeated(db: None, log: io.StringIO) -> None:
    Client().get("/sessions/of/alice@example.com\x1b[31m")
    assert "Not Found: an address that is none" in log.getvalue()
    assert "alice" not in log.getvalue()


def test_a_fault_is_logged_by_its_class_and_place(
    cast: Cast, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object, **named: object) -> None:
        raise IntegrityError(WORDS)

    monkeypatch.setattr(people_pages.steps, "accept", fails)
    link = link_to(cast)
    strong = {"name": "New", "password1": "a ruled line to sign", "password2": "a ruled line to sign"}
    client = Client(raise_request_exception=False)
    assert client.post(link, strong).status_code == 500
    assert "Internal Server Error: /invitation/<str:token>\nIntegrityError in fails:" in log.getvalue()
    assert "gold plan" not in log.getvalue()


def test_a_task_that_fails_leaves_no_words_in_the_queue(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise IntegrityError(WORDS)

    monkeypatch.setattr(expiry, "expire", fails)
    with pytest.raises(tasks.TaskFailed) as failure:
        tasks.expire_facts()
    # What the queue keeps: the message, and the traceback as Python prints it.
    assert str(failure.value).startswith("IntegrityError in fails:")
    assert (failure.value.__suppress_context__, failure.value.__cause__) == (True, None)


def test_every_task_is_told_so() -> None:
    told = [name for name, work in vars(tasks).items() if getattr(work, "__module__", "") == tasks.__name__]
    bare = [
        name for name in told if name not in ("task", "TaskFailed") and not hasattr(vars(tasks)[name], "__wrapped__")
    ]
    assert bare == []
