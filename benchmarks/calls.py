"""One client on one kept connection, as thin as Python allows: its own cost is in every figure, also in the floor's."""

from __future__ import annotations

import json
import socket
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass
class Call:
    """A request as bytes, sent again and again."""

    raw: bytes

    @classmethod
    def get(cls, path: str) -> Call:
        return cls(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    @classmethod
    def post(cls, path: str, body: Any, key: str) -> Call:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        return cls(head.encode() + content)


class Connection:
    """A kept connection to the server under test."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, call: Call) -> bytes:
        """The body of the answer. Raises RuntimeError unless it is a success."""
        self.socket.sendall(call.raw)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._more()
        head, _, body = received.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1]
        if not status.startswith(b"2"):
            raise RuntimeError(f"The server answered {status.decode()}.")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if b"content-length" in fields:
            while len(body) < int(fields[b"content-length"]):
                body += self._more()
            return body
        while not body.endswith(b"0\r\n\r\n"):
            body += self._more()
        return b"".join(_chunks(body))

    def _more(self) -> bytes:
        part = self.socket.recv(65536)
        if not part:
            raise RuntimeError("The server closed the connection.")
        return part

    def median_ms(self, call: Call, times: int) -> float:
        """Median time of `times` calls, one after the other, in milliseconds."""
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            self.send(call)
            taken.append(time.perf_counter() - start)
        return statistics.median(taken) * 1000


def _chunks(body: bytes) -> Iterator[bytes]:
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        yield rest[:length]
        body = rest[length + 2 :]


@dataclass(frozen=True)
class Compared:
    """Ours against the floor: the median ratio of alternating runs, and how far the floor itself spread."""

    ours: float
    floor: float
    ratio: float
    spread: float


def compare(connection: Connection, ours: Call, floor: Call, *, runs: int, times: int) -> Compared:
    """Alternating runs, so that whatever else the machine does meets both."""
    connection.median_ms(floor, times // 2)
    connection.median_ms(ours, times // 2)
    pairs = [(connection.median_ms(ours, times), connection.median_ms(floor, times)) for _ in range(runs)]
    floors = [pair[1] for pair in pairs]
    return Compared(
        ours=statistics.median(pair[0] for pair in pairs),
        floor=statistics.median(floors),
        ratio=statistics.median(pair[0] / pair[1] for pair in pairs),
        spread=max(floors) / min(floors) - 1,
    )
