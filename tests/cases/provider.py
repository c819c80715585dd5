"""A provider's model that says what a case says: a server of our own, which speaks OpenAI's language and Anthropic's.

`llm_reply` is answered to every call until the next plan (`llm_replies` one after the other, the last for ever);
`llm_error` first, as often as the case says. What was asked is kept, with the stage's time.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from projects.models import Project
from tests.cases.result import NotBuilt
from tests.cases.script import Step
from tests.cases.stage import Stage

RETRY_AFTER_SECONDS = 90
MODEL = "fake-model"
# What a large capture says in every line, and what is learned of it where a case names no reply.
REFRAIN = "The deploy slot is 7."
USUAL_FACT = {
    "type": "environment",
    "key": "deploy.slot",
    "value": "7",
    "text": REFRAIN,
    "about": "project",
    "quotes": [{"observation": None, "quote": REFRAIN}],
    "use": "actionable",
    "due": None,
    "expires_on": None,
    "state": None,
}
_FACT = re.compile(r"\{[^{}]*\}")


@dataclass(slots=True)
class Asked:
    """One call: when by the stage's clock, how long its prompt was, and the status it was answered with."""

    at: datetime
    characters: int
    status: int


@dataclass(slots=True)
class Provider:
    """`errors` are statuses still to be answered; `replies` texts, the last of which stays."""

    stage: Stage
    replies: list[str] = field(default_factory=list)
    stop: str = "end"
    errors: list[str] = field(default_factory=list)
    retry_after: int = RETRY_AFTER_SECONDS
    asked: list[Asked] = field(default_factory=list)
    address: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        prompt = json.dumps(body.get("messages", []))
        error = self.errors.pop(0) if self.errors else ""
        status, message = _trouble(error)
        self.asked.append(Asked(self.stage.clock.at, len(prompt), status))
        if error:
            return status, {"Retry-After": str(self.retry_after)}, json.dumps({"error": {"message": message}}).encode()
        text = self._reply(prompt)
        said = _anthropic(text, self.stop) if "messages" in path.rpartition("/")[2] else _openai(text, self.stop)
        return 200, {}, json.dumps(said).encode()

    def _reply(self, prompt: str) -> str:
        if not self.replies:
            return json.dumps({"facts": [USUAL_FACT] if REFRAIN in prompt else []})
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def _trouble(error: str) -> tuple[int, str]:
    """The status and the words of a trouble that a case names by its number or in a word."""
    if not error:
        return 200, ""
    if error.isdigit():
        return int(error), "try again later"
    if "context" in error or "too_long" in error:
        return 400, "This model's maximum context length was exceeded."
    return (408, "took too long") if "timeout" in error else (503, "not available")


def of(stage: Stage) -> Provider:
    """This stage's provider, which its project was told to use. Raises NotBuilt where there is no such choice."""
    if isinstance(stage.provider, Provider):
        return stage.provider
    made = Provider(stage)
    _serve(made)
    _use(stage, made.address)
    stage.provider = made
    return made


def plan(stage: Stage, step: Step) -> None:
    """What the provider says from now on."""
    provider = of(stage)
    given = [*step.get("llm_replies", ()), *([step["llm_reply"]] if "llm_reply" in step else [])]
    if given:
        provider.replies = [with_quotes(one if isinstance(one, str) else json.dumps(one)) for one in given]
        provider.stop = {"max_tokens": "length", "length": "length", "refusal": "refusal"}.get(
            step.get("stop_reason", ""), "end"
        )
    if "llm_error" in step:
        provider.errors += [str(step["llm_error"])] * step.get("times", 1)
        provider.retry_after = step.get("retry_after", RETRY_AFTER_SECONDS)


def with_quotes(reply: str) -> str:
    """Each whole fact of a reply that names no quote quotes its value, which the session holds word for word."""

    def completed(match: re.Match[str]) -> str:
        try:
            fact = json.loads(match[0])
        except ValueError:
            return match[0]
        if "value" not in fact or "quote" in fact or "quotes" in fact:
            return match[0]
        return json.dumps({**fact, "quote": str(fact["value"])})

    return _FACT.sub(completed, reply)


def _openai(text: str, stop: str) -> dict[str, Any]:
    reason = {"length": "length", "refusal": "content_filter"}.get(stop, "stop")
    message = {"role": "assistant", "content": text}
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def _anthropic(text: str, stop: str) -> dict[str, Any]:
    reason = {"length": "max_tokens", "refusal": "refusal"}.get(stop, "end_turn")
    return {
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _serve(provider: Provider) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            status, headers, answer = provider.answer(self.path, body)
            self.send_response(status)
            for name, value in {**headers, "Content-Type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    provider.stage.seams.callback(stop)
    provider.address = f"http://127.0.0.1:{server.server_address[1]}/v1"


def _use(stage: Stage, address: str) -> None:
    from django.conf import settings

    if not hasattr(settings, "OPENAI_BASE_URL"):
        raise NotBuilt("hosted distiller")
    stage.patch.setattr(settings, "OPENAI_BASE_URL", address)
    stage.patch.setattr(settings, "OPENAI_API_KEY", "sk-of-a-stage")
    with stage.looking():
        chosen = Project.objects.filter(pk=stage.project.pk)
        chosen.update(distiller="openai", distiller_model=MODEL, local_only=False)
