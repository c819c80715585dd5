"""The signed webhook: what it carries, whom it proves itself to, and the doors it does not knock at."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from review.models import Notice, Webhook
from review.notices import delivery, gathering, webhook
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db

EIGHT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
SECRET = "whsec_of-a-test"


@pytest.fixture
def hook(cast: Cast, sight: None, httpserver: HTTPServer, settings: Any) -> Webhook:
    settings.PRIVATE_WEBHOOKS = True
    for person in (cast.rita, cast.olga):
        person.wants_digest = False
        person.save()
    factories.proposal(cast.project, "Sarah Chen prefers e-mail.", now=EIGHT)
    made = Webhook.objects.create(project=cast.project, url=httpserver.url_for("/in?room=1"), secret=SECRET)
    gathering.gather(EIGHT)
    return made


def test_it_carries_counts_and_a_link_and_proves_itself(hook: Webhook, httpserver: HTTPServer) -> None:
    got: list[Request] = []
    bodies: list[bytes] = []

    def take(request: Request) -> Response:
        bodies.append(request.get_data())
        got.append(request)
        return Response(status=204)

    httpserver.expect_request("/in", method="POST", query_string="room=1").respond_with_handler(take)
    assert delivery.send_waiting(EIGHT) == 1
    [request], [body] = got, bodies
    stamp = request.headers["X-Countersign-Timestamp"]
    expected = hmac.new(SECRET.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert request.headers["X-Countersign-Signature"] == f"v1={expected}"
    notice = Notice.objects.get()
    assert request.headers["X-Countersign-Notice"] == f"notice-{notice.pk}"
    assert json.loads(body) == {
        "id": f"notice-{notice.pk}",
        "kind": "digest",
        "counts": {"complaints": 0, "still_true": 0, "waiting": 1, "minutes": 1},
        "link": "http://localhost:8000/p/shop/review",
        "at": EIGHT.isoformat(),
    }
    hook.refresh_from_db()
    assert (hook.last_sent_at, hook.last_fault) == (EIGHT, "")


@pytest.mark.parametrize(
    ("status", "fault"),
    [(500, "answered 500"), (404, "answered 404"), (302, "answered 302, and redirects are not followed")],
)
def test_it_tries_again_later_under_the_same_id(hook: Webhook, httpserver: HTTPServer, status: int, fault: str) -> None:
    seen: list[str] = []

    def refuse(request: Request) -> Response:
        seen.append(request.headers["X-Countersign-Notice"])
        return Response(status=status, headers={"Location": httpserver.url_for("/elsewhere")})

    httpserver.expect_request("/in").respond_with_handler(refuse)
    httpserver.expect_request("/elsewhere").respond_with_handler(lambda _request: pytest.fail("followed"))
    assert delivery.send_waiting(EIGHT) == 0
    hook.refresh_from_db()
    assert (hook.last_sent_at, hook.last_fault) == (None, fault)
    assert delivery.send_waiting(EIGHT + timedelta(seconds=30)) == 0
    assert len(seen) == 1
    delivery.send_waiting(EIGHT + timedelta(minutes=1))
    assert len(seen) == 2
    assert len(set(seen)) == 1


def test_whoever_answers_a_byte_at_a_time_does_not_hold_it(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "SECONDS", 0.5)
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip() -> None:
        line, _address = listener.accept()
        with line:
            while not over.wait(0.05):
                try:
                    line.sendall(b"H")
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        with pytest.raises(webhook.NotSent, match=r"timed out|could not be reached"):
            webhook.send(f"http://127.0.0.1:{listener.getsockname()[1]}/", SECRET, "notice-1", {}, 1)
    finally:
        over.set()
        listener.close()
        thread.join()


@pytest.fixture
def mute_name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A name server that never answers, until the test is over."""
    over = threading.Event()

    def hang(*given: Any, **named: Any) -> Any:
        over.wait(30)
        raise socket.gaierror("gave up")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    yield
    over.set()
    for thread in threading.enumerate():
        if thread.name == "webhook look-up":
            thread.join(5)


def test_a_name_that_nobody_resolves_has_a_limit_of_its_own(
    cast: Cast, mute_name_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (webhook.LOOK_UP_SECONDS, webhook.TEST_SECONDS) == (3.0, 4.0)
    monkeypatch.setattr(webhook, "LOOK_UP_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(webhook.NotSent, match="timed out"):
        webhook.send("https://hooks.example.com/", SECRET, "notice-1", {}, 1)
    assert time.monotonic() - began < 2


def test_look_ups_that_hang_do_not_pile_up(cast: Cast, mute_name_server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "LOOK_UP_SECONDS", 0.05)
    for _ in range(webhook.MOST_LOOK_UPS + 3):
        with pytest.raises(webhook.NotSent, match="timed out"):
            webhook.send("https://hooks.example.com/", SECRET, "notice-1", {}, 1)
    hanging = [thread for thread in threading.enumerate() if thread.name == "webhook look-up"]
    assert len(hanging) == webhook.MOST_LOOK_UPS


def test_a_name_that_is_none_is_said_so(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*given: Any, **named: Any) -> Any:
        raise socket.gaierror("no")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(webhook.NotSent, match="has no such name"):
        webhook.send("https://hooks.example.com/", SECRET, "notice-1", {}, 1)


def test_nobody_there_is_a_fault_in_words(cast: Cast, settings: Any) -> None:
    settings.PRIVATE_WEBHOOKS = True
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(webhook.NotSent, match="refused the connection"):
        webhook.send(f"http://127.0.0.1:{port}/", SECRET, "notice-1", {}, 1)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fec0::1",
        "::7f00:1",
        "64:ff9b:1::7f00:1",
    ],
)
def test_no_private_network_is_knocked_at(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither written as a number nor behind a name that stands for one, whichever of its addresses it is."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    both = [(socket.AF_INET, 1, 6, "", ("93.184.216.34", 443)), (family, 1, 6, "", (address, 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: both)
    monkeypatch.setattr(socket, "create_connection", lambda *given, **named: pytest.fail("knocked"))
    with pytest.raises(webhook.NotSent, match="private network"):
        webhook.send("https://hooks.example.com/", SECRET, "notice-1", {}, 1)
    with pytest.raises(webhook.BadAddress):
        webhook.check_address(f"https://[{address}]/" if ":" in address else f"https://{address}/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.com",
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "https://",
        "https://user:password@hooks.example.com/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:99999/",
        "https://[::1/",
        "javascript:alert(1)",
        "https://hooks.example.com/" + "a" * 500,
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(webhook.BadAddress):
        webhook.check_address(url)


def test_a_line_break_in_the_address_adds_no_header(hook: Webhook, httpserver: HTTPServer) -> None:
    with pytest.raises((webhook.NotSent, webhook.BadAddress)):
        webhook.send(httpserver.url_for("/in") + "\r\nX-Other: 1", SECRET, "notice-1", {}, 1)
    assert not httpserver.log


def test_a_webhook_that_was_taken_away_gets_nothing(hook: Webhook, httpserver: HTTPServer) -> None:
    hook.delete()
    assert delivery.send_waiting(EIGHT) == 0
    assert not httpserver.log
    assert Notice.objects.get().attempts == len(delivery.TRIES)
