"""Both providers' APIs on one local server, in the form their answers have on the wire. The real SDKs talk to it.

with fake_provider() as provider:
    provider.connect(settings, project, "anthropic")
    provider.says('{"facts": []}')              # the next answer, and the last one for ever
    provider.fails(429, {"Retry-After": "30"})  # before it: once, or `times=5`
    …
    provider.calls                              # every question that was asked, in order
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug.wrappers import Request, Response

from projects.models import Project

KEY = "test-key-of-nobody"
_REASONS = {
    "anthropic": {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"},
    "openai": {"end": "stop", "length": "length", "refusal": "content_filter"},
}
# How a case writes why a reply ended.
_STOPS = {"end_turn": "end", "stop": "end", "max_tokens": "length", "length": "length", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class Call:
    """One question as it arrived."""

    provider: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def system(self) -> str:
        if self.provider == "anthropic":
            return str(self.body.get("system", ""))
        return "".join(turn["content"] for turn in self.body["messages"] if turn["role"] == "system")

    @property
    def turns(self) -> list[tuple[str, str]]:
        return [(turn["role"], turn["content"]) for turn in self.body["messages"] if turn["role"] != "system"]

    @property
    def prompt(self) -> str:
        """The instructions and the question: what must not grow however often it is asked."""
        return self.system + self.turns[0][1]

    def numbered(self, words: str) -> int:
        """The number of the last observation in the question that holds these words."""
        found = [
            int(number)
            for number, text in re.findall(
                r'<observation-\w+ n="(\d+)"[^>]*>\n(.*?)\n</observation-', self.prompt, re.S
            )
            if words in text
        ]
        return found[-1]


Answer = Callable[[Call], Response]


class FakeProvider:
    """Answers what it was told to, in order; the last answer again and again."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.calls: list[Call] = []
        self._answers: deque[Answer] = deque()
        self._lock = threading.Lock()
        server.expect_request(re.compile(r".*/messages$"), method="POST").respond_with_handler(self._messages)
        server.expect_request(re.compile(r".*/chat/completions$"), method="POST").respond_with_handler(self._chat)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def connect(self, settings: Any, project: Project, provider: str = "anthropic", **fields: Any) -> None:
        """Settings that reach this server, and a project that chose the provider."""
        settings.ANTHROPIC_API_KEY = settings.OPENAI_API_KEY = KEY
        settings.ANTHROPIC_BASE_URL = self.url
        settings.OPENAI_BASE_URL = f"{self.url}/v1"
        for name, value in {"distiller": provider, **fields}.items():
            setattr(project, name, value)
        project.save()

    # What it answers ------------------------------------------------------------------------------------------------

    def says(self, text: str, stop: str = "end", times: int = 1, **usage: int) -> None:
        """The model writes this. `stop` is `end`, `length` or `refusal`, or a provider's own word for it."""
        ended = _STOPS.get(stop, stop)
        self._then(lambda call: written(call, text, ended, usage), times)

    def gives(self, facts: Sequence[Any], stop: str = "end", times: int = 1, **usage: int) -> None:
        """The model hands over these facts in the form that was asked for: the tool's input, or JSON."""
        self._then(lambda call: handed_over(call, {"facts": list(facts)}, stop, usage), times)

    def answers(self, answer: Callable[[Call], Sequence[Any]]) -> None:
        """The model hands over what this makes of the question."""
        self._then(lambda call: handed_over(call, {"facts": list(answer(call))}, "end", {}), 1)

    def fails(self, status: int, headers: dict[str, str] | None = None, said: str = "trouble", times: int = 1) -> None:
        """An error of HTTP, in the provider's form."""
        self._then(lambda call: error(call, status, headers or {}, said), times)

    def does(self, answer: Answer, times: int = 1) -> None:
        """Whatever else."""
        self._then(answer, times)

    def forget(self) -> None:
        """Takes back every answer, and forgets what was asked."""
        with self._lock:
            self._answers.clear()
            self.calls.clear()

    def _then(self, answer: Answer, times: int) -> None:
        with self._lock:
            self._answers.extend([answer] * times)

    # The server's side ----------------------------------------------------------------------------------------------

    def _messages(self, request: Request) -> Response:
        return self._answer("anthropic", request)

    def _chat(self, request: Request) -> Response:
        return self._answer("openai", request)

    def _answer(self, provider: str, request: Request) -> Response:
        call = Call(provider, json.loads(request.get_data()), dict(request.headers))
        with self._lock:
            self.calls.append(call)
            answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        return answer(call)


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    server = HTTPServer(host="127.0.0.1", port=0, threaded=True)
    server.start()
    try:
        yield FakeProvider(server)
    finally:
        server.clear()
        server.stop()


def written(call: Call, text: str, stop: str, usage: dict[str, int]) -> Response:
    if call.provider == "anthropic":
        return _message(call, [{"type": "text", "text": text}] if text else [], stop, usage)
    return _completion(call, text, stop, usage)


def handed_over(call: Call, given: Any, stop: str, usage: dict[str, int]) -> Response:
    if call.provider == "anthropic" and "tools" in call.body:
        tool = {"type": "tool_use", "id": "toolu_01", "name": call.body["tools"][0]["name"], "input": given}
        return _message(call, [tool], "tool_use" if stop == "end" else stop, usage)
    return written(call, json.dumps(given), stop, usage)


def _message(call: Call, content: list[Any], stop: str, usage: dict[str, int]) -> Response:
    counted = {"input_tokens": 1_000, "output_tokens": 100, **usage}
    return _json(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": call.body["model"],
            "content": content,
            "stop_reason": _REASONS["anthropic"].get(stop, stop),
            "stop_sequence": None,
            "usage": counted,
        }
    )


def _completion(call: Call, text: str, stop: str, usage: dict[str, int]) -> Response:
    into, out = usage.get("input_tokens", 1_000), usage.get("output_tokens", 100)
    return _json(
        {
            "id": "chatcmpl-01",
            "object": "chat.completion",
            "created": 1_796_000_000,
            "model": call.body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None},
                    "logprobs": None,
                    "finish_reason": _REASONS["openai"].get(stop, stop),
                }
            ],
            "usage": {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out},
        }
    )


def error(call: Call, status: int, headers: dict[str, str], said: str) -> Response:
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "overloaded_error" if status == 529 else "invalid_request_error")
    if call.provider == "anthropic":
        body: Any = {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_01"}
    else:
        body = {"error": {"message": said, "type": kind, "param": None, "code": None}}
    answer = _json(body, status)
    answer.headers.update(headers)
    return answer


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, mimetype="application/json")
