"""An agent's client over the real WSGI application: Django's own test client would go through the browser's way in."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from django.core import signals
from django.db import close_old_connections


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


class Unread(io.BytesIO):
    """A body that must not be read."""

    def read(self, *args: Any) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


@dataclass
class AgentClient:
    """Calls `/api/v1/…` with a key. Headers are given as WSGI has them, or by their names."""

    key: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, b"", **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.call("POST", path, raw, **headers)

    def observe(self, session: str, *observations: Any, **frame: Any) -> Answer:
        return self.post(f"sessions/{session}/observations", {"observations": list(observations), **frame})

    def call(
        self, method: str, path: str, body: bytes | io.BytesIO, length: int | None = None, **headers: str
    ) -> Answer:
        from config.wsgi import application

        address, _, query = path.partition("?")
        if not address.startswith("/"):
            address = f"/api/v1/{address}"
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            # PEP 3333: the decoded bytes of the path as latin-1.
            "PATH_INFO": unquote_to_bytes(address).decode("latin-1"),
            "SCRIPT_NAME": "",
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "localhost:8000",
            "CONTENT_TYPE": "application/json",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body) if isinstance(body, bytes) else body,
            "wsgi.input_terminated": True,
            "wsgi.errors": io.StringIO(),
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        if isinstance(body, bytes) and "HTTP_TRANSFER_ENCODING" not in headers:
            environ["CONTENT_LENGTH"] = str(len(body))
        if length is not None:
            environ["CONTENT_LENGTH"] = str(length)
        if self.key:
            environ["HTTP_AUTHORIZATION"] = f"Bearer {self.key}"
        environ.update({name if name.isupper() else f"HTTP_{name.upper()}": value for name, value in headers.items()})
        said: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], *rest: Any) -> None:
            said.update(status=int(status.split(" ")[0]), headers=dict(headers))

        # As in Django's own client: the end of a request would close the connection of the test's transaction.
        signals.request_started.disconnect(close_old_connections)
        signals.request_finished.disconnect(close_old_connections)
        try:
            response: Any = application(environ, start_response)
            content = b"".join(response)
            response.close()
        finally:
            signals.request_started.connect(close_old_connections)
            signals.request_finished.connect(close_old_connections)
        return Answer(said["status"], said["headers"], content)
