"""One signed POST to a project's own address: bounded in time and size, never redirected, never into a private network.

`X-Countersign-Signature` is `v1=` and the HMAC-SHA256 of `{timestamp}.{body}` under the project's secret, in hex;
`X-Countersign-Timestamp` are seconds since 1970. `X-Countersign-Notice` is the same when a notice is sent once more.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import json
import secrets
import socket
import ssl
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

# Of the whole exchange, however slowly the other side answers; and where a person waits for what comes of it.
SECONDS = 10.0
TEST_SECONDS = 4.0
# Of that, for what the name stands for: a name server that says nothing has its own idea of when to give up. So many
# look-ups may hang at once in one process.
LOOK_UP_SECONDS = 3.0
MOST_LOOK_UPS = 8
AGENT = "Countersign"
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_look_ups = threading.BoundedSemaphore(MOST_LOOK_UPS)


class NotSent(Exception):
    """It did not arrive; the message is the class of what went wrong in a few words, without the address."""


class BadAddress(ValueError):
    """No address a notice may be sent to; the message says what one looks like."""


def new_secret() -> str:
    return f"whsec_{secrets.token_urlsafe(32)}"


def check_address(url: str) -> str:
    """The address as it is kept. Raises BadAddress. What its name stands for is looked at each time it is used."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadAddress(_("Write an address such as https://hooks.example.com/countersign.")) from None
    allowed = ("https", "http") if settings.PRIVATE_WEBHOOKS else ("https",)
    if parts.scheme not in allowed or not host or port == 0 or len(url) > 500 or not url.strip().isascii():
        raise BadAddress(_("Write an address such as https://hooks.example.com/countersign."))
    if parts.username or parts.password:
        raise BadAddress(_("Leave the name and the password out: each message is signed with the secret."))
    is_public = True
    with contextlib.suppress(ValueError):  # a name: looked at when it is used
        is_public = settings.PRIVATE_WEBHOOKS or _is_public(host)
    if not is_public:
        raise BadAddress(_("That address lies in a private network. Use one that the internet can reach."))
    return url.strip()


def send(
    url: str, secret: str, notice_id: str, message: dict[str, Any], timestamp: int, seconds: float | None = None
) -> None:
    """Posts one message, within `seconds` (else SECONDS). Raises NotSent for everything but a 2xx answer."""
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": AGENT,
        "X-Countersign-Notice": notice_id,
        "X-Countersign-Timestamp": str(timestamp),
        "X-Countersign-Signature": signature(secret, timestamp, body),
    }
    try:
        status = _post(url, body, headers, SECONDS if seconds is None else seconds)
    except (TimeoutError, ssl.SSLError, OSError, http.client.HTTPException, ValueError) as problem:
        raise NotSent(_fault(problem)) from None
    if 300 <= status < 400:
        raise NotSent(_("answered %(status)s, and redirects are not followed") % {"status": status})
    if not 200 <= status < 300:
        raise NotSent(f"answered {status}")


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`v1=` and 64 hexadecimal digits."""
    return "v1=" + hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def _post(url: str, body: bytes, headers: dict[str, str], seconds: float) -> int:
    over_at = time.monotonic() + seconds
    parts = urlsplit(check_address(url))
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    ended = threading.Event()
    reached: list[socket.socket] = []

    def stop() -> None:
        # A side that answers a byte at a time would hold each read for itself; this ends the whole.
        ended.set()
        for one in reached:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    plain = None
    try:
        # Resolved here and connected to by number: a name that changes its mind in between leads nowhere else.
        address = _address_of(host, port, min(LOOK_UP_SECONDS, seconds / 2))
        plain = socket.create_connection((address, port), timeout=max(0.001, over_at - time.monotonic()))
        reached.append(plain)
        if ended.is_set():
            raise TimeoutError
        channel: socket.socket = plain
        if parts.scheme == "https":
            channel = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            reached.append(channel)
        connection = http.client.HTTPConnection(host, port, timeout=seconds / 2)
        connection.sock = channel
        connection.request("POST", path, body=body, headers=headers)
        status = connection.getresponse().status
        if ended.is_set():
            raise TimeoutError
        return status
    except (OSError, http.client.HTTPException):
        if ended.is_set():
            raise TimeoutError from None
        raise
    finally:
        clock.cancel()
        for one in reached:
            one.close()


class _Private(OSError):
    """The name stands for an address of a private network."""


def _address_of(host: str, port: int, seconds: float) -> str:
    """The first address this name stands for. Raises _Private where any of them is not public, and TimeoutError."""
    found = [str(entry[4][0]) for entry in _looked_up(host, port, seconds)]
    if not settings.PRIVATE_WEBHOOKS and not all(_is_public(address) for address in found):
        raise _Private
    return found[0]


def _looked_up(host: str, port: int, seconds: float) -> list[tuple[Any, ...]]:
    """As `getaddrinfo`, which knows no limit of time: it goes on behind our back, and its answer is not waited for."""
    found: list[list[tuple[Any, ...]]] = []
    failed: list[OSError] = []
    over_at = time.monotonic() + seconds
    if not _look_ups.acquire(timeout=seconds):
        raise TimeoutError

    def look() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as problem:
            failed.append(problem if isinstance(problem, OSError) else socket.gaierror(str(problem)))
        finally:
            _look_ups.release()

    looking = threading.Thread(target=look, name="webhook look-up", daemon=True)
    looking.start()
    looking.join(max(0.0, over_at - time.monotonic()))
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError
    return found[0]


def _is_public(address: str) -> bool:
    """Whether the internet can reach it, also where one number is packed into another. Raises ValueError for a name."""
    number = ipaddress.ip_address(address.partition("%")[0])
    inner: ipaddress.IPv4Address | None = None
    if isinstance(number, ipaddress.IPv6Address):
        # Nothing else of the sixth version is routed: site-local networks and old ways to pack a number do not count.
        if number not in _GLOBAL_UNICAST and number not in _NAT64 and number.ipv4_mapped is None:
            return False
        inner = number.ipv4_mapped or number.sixtofour or (number.teredo[1] if number.teredo else None)
        if number in _NAT64:
            inner = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
    return number.is_global and not number.is_multicast and (inner is None or _is_public(str(inner)))


def _fault(problem: Exception) -> str:
    if isinstance(problem, _Private):
        return _("leads into a private network")
    if isinstance(problem, TimeoutError):
        return "timed out"
    if isinstance(problem, ssl.SSLError):
        return _("has no valid certificate")
    if isinstance(problem, socket.gaierror):
        return _("has no such name")
    if isinstance(problem, ConnectionRefusedError):
        return "refused the connection"
    return _("could not be reached")
