"""The stage a case is played on: a project, its agents with keys, its people with browsers, a clock, and the seams.

What a case does goes through the product's own doors: the agents' API over the real application, the pages as a
signed-in person, the commands. Rows are read only to see what came of it.
"""

from __future__ import annotations

import importlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Max
from django.test import Client

from memory import agent_auth, api_limits, embeddings
from memory.models import Fact, Observation, Session
from projects import tenancy
from projects.models import Agent, AuditEvent, Person, Project, Role
from tests import factories
from tests.cases.clock import Clock
from tests.cases.embedder import FakeEmbedder
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Case, encode
from tests.memory.agent_client import AgentClient

USUAL_AGENT = "support"
CAST = (USUAL_AGENT, "sales", "coder")
# Where a case asks what a name that is none may do, only names that something was scoped to are agents.
STRICT_KINDS = frozenset({"scope_empty_filter", "id_case_whitespace"})
REVIEWER, OWNER = "rita", "olga"
SIGNED_IN_FOR = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: its status, its JSON (None for none) and its bytes as text."""

    status: int
    body: Any
    text: str


@dataclass(slots=True)
class Counted:
    """How often something that a case may forbid was used."""

    embedded: int = 0
    readings: list[tuple[str, ...]] = field(default_factory=list)


class Stage:
    """One case's world. `slug` tells several worlds of one database apart."""

    def __init__(self, case: Case, patch: pytest.MonkeyPatch, slug: str = "played-on") -> None:
        self.case = case
        self.patch = patch
        self.slug = slug
        self.clock = Clock(case.now, patch)
        self.results: list[Result] = []
        self.statuses: list[int] = []
        self.audited_before = 0
        self.pages: list[str] = []
        self.captured: list[str] = []
        self.scopes: dict[int, list[str] | None] = {}
        self.opened: dict[str, tuple[str, int]] = {}
        self.counted = Counted()
        self.embedder: FakeEmbedder | None = None
        self.provider: object | None = None
        self.workers_run = True
        self.kills: dict[str, str] = {}
        self.seams = ExitStack()
        self._keys: dict[Any, str] = {}
        self._browsers: dict[str, Client] = {}
        self._signed_in: dict[str, datetime] = {}
        # The server that a case finds running has loaded its model long ago.
        importlib.import_module("config.wsgi")
        self._watch_embedder()
        agent_auth.forget()
        api_limits.forget()
        self._set_up()

    def close(self) -> None:
        self.seams.close()
        embeddings.use(None)

    # Who is on it -----------------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        zone = self.case.settings.get("TIME_ZONE", "UTC")
        code, said = self.command("create_project", self.slug, timezone=zone)
        assert code == 0, said
        for name in self._agents():
            self.command("create_agent", self.slug, name)
        with tenancy.system("command"):
            self.project = Project.objects.get(slug=self.slug)
        self.person(OWNER, Role.OWNER)
        self.person(REVIEWER)

    def _agents(self) -> list[str]:
        wanted: dict[str, None] = dict.fromkeys(CAST)
        for step in self.case.every_step():
            scope = step.get("scope")
            wanted.update(dict.fromkeys([scope] if isinstance(scope, str) else scope or []))
            if self.case.kind not in STRICT_KINDS and isinstance(step.get("agent"), str):
                wanted[step["agent"]] = None
        return [name for name in wanted if name and name.isprintable()]

    def person(self, name: str, role: str = Role.REVIEWER) -> Person:
        """Somebody of the project, by first name; a reviewer unless said otherwise."""
        email = f"{name}@{self.slug}.example"
        with tenancy.system("command"):
            found = Person.objects.filter(email=email).first()
            if found is None:
                found = factories.person(email)
                factories.member(self.project, found, role)
        return found

    def key(self, agent: Any) -> str:
        """A key of that agent, issued by the command. For a name that is no agent's, the name itself: no valid key."""
        if agent not in self._keys:
            code, said = (1, "") if not isinstance(agent, str) else self.command("issue_key", self.slug, agent)
            self._keys[agent] = said.split("\n")[-1] if code == 0 else str(agent or "")
        return self._keys[agent]

    def begins(self) -> None:
        """Everything is ready: what the trail holds from here on is the case's own."""
        with self.looking():
            self.audited_before = AuditEvent.objects.aggregate(last=Max("pk"))["last"] or 0

    # Doors ------------------------------------------------------------------------------------------------------------

    def call(self, agent: Any, method: str, path: str, body: Any = None) -> Said:
        """One call of the agents' API. `body` is JSON-able, or bytes as they are."""
        raw = b"" if body is None else body if isinstance(body, bytes) else encode(body)
        # As WSGI hands a header over: its bytes as latin-1.
        key = self.key(agent).encode("utf-8", "surrogatepass").decode("latin-1")
        answer = AgentClient(key).call(method, path, raw)
        text = answer.content.decode()
        self.statuses.append(answer.status)
        try:
            read = json.loads(text, parse_constant=_refuse) if text else None
        except ValueError:
            read = None
        return Said(answer.status, read, text)

    def needs(self, call: str) -> None:
        """Raises NotBuilt when the API's own document has no such address, such as `/facts/{fact_id}/feedback`."""
        known = AgentClient("").get("openapi.json").json()["paths"]
        if f"/api/v1{call}" not in known:
            raise NotBuilt(call)

    def page(self, person: str, path: str, data: dict[str, Any] | None = None, **headers: str) -> Said:
        """One page as a signed-in person; with `data` a form that is sent. Redirects are not followed."""
        browser = self.browser(person)
        answer = browser.get(path, headers=headers) if data is None else browser.post(path, data, headers=headers)
        text = answer.content.decode()
        self.statuses.append(answer.status_code)
        self.pages.append(text)
        return Said(answer.status_code, answer.headers.get("Location"), text)

    def browser(self, person: str) -> Client:
        """Somebody's browser, signed in; anew when the clock was moved by more than a morning."""
        signed_in_at = self._signed_in.get(person)
        if signed_in_at is None or abs(self.clock.at - signed_in_at) > SIGNED_IN_FOR:
            self._signed_in[person] = self.clock.at
            browser = Client(raise_request_exception=False)
            with tenancy.system("sign-in"):
                browser.force_login(self.person(person), backend="allauth.account.auth_backends.AuthenticationBackend")
            self._browsers[person] = browser
        return self._browsers[person]

    def command(self, name: str, *args: Any, **options: Any) -> tuple[int, str]:
        """(exit code, what it said) of a command."""
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(name, *args, stdout=out, stderr=err, **options)
        except (CommandError, ValueError) as refused:
            return 1, f"{out.getvalue()}{refused}".strip()
        return 0, out.getvalue().strip()

    # What is there ----------------------------------------------------------------------------------------------------

    @contextmanager
    def looking(self):  # type: ignore[no-untyped-def]
        """Inside, the rows of every project can be read."""
        with tenancy.system("command"):
            yield

    def facts(self, entity: str | None = None) -> list[Fact]:
        """Every fact of the project (about one customer), in the order they were made."""
        with self.looking():
            found = Fact.objects.filter(project=self.project).select_related("subject").order_by("pk")
            rows = list(found)
        if entity is None:
            return rows
        return [fact for fact in rows if (fact.subject.entity_type, fact.subject.entity_id) == ("customer", entity)]

    def fact(self, key: str, statuses: Sequence[str] = ()) -> Fact | None:
        """The newest fact with this key, its type written before it or not, in one of these states."""
        for fact in reversed(self.facts()):
            if key in (fact.key, short_key(fact)) and (not statuses or fact.status in statuses):
                return fact
        return None

    def observations(self, session: str | None = None) -> list[Observation]:
        """Observations in the order they are read: by session, then by their place in it."""
        with self.looking():
            found = Observation.objects.filter(project=self.project).select_related("session")
            rows = list(found.order_by("session", "seq", "pk"))
        return rows if session is None else [row for row in rows if row.session.external_id == session]

    def session(self, external_id: str) -> Session | None:
        with self.looking():
            return Session.objects.filter(project=self.project, external_id=external_id).order_by("-pk").first()

    def agent_ids(self, names: Iterable[str]) -> list[int]:
        """Row ids of agents, however their names are spelled in a scope."""
        folded = [name.strip().casefold() for name in names]
        with self.looking():
            return list(Agent.objects.filter(project=self.project, slug__in=folded).values_list("pk", flat=True))

    def use_embedder(self, embedder: FakeEmbedder) -> None:
        self.embedder = embedder
        embeddings.use(embedder)

    def _watch_embedder(self) -> None:
        real = embeddings.embed

        def counting(texts: Sequence[str]) -> list[list[float]]:
            self.counted.embedded += len(texts)
            return real(texts)

        self.patch.setattr(embeddings, "embed", counting)


def short_key(fact: Fact) -> str:
    """The key as a case writes it: without its type."""
    return fact.key.partition(":")[2]


def about(entity: str) -> str:
    """The subject that a case's entity is."""
    return f"customer:{entity}"


def ids_on(page: str) -> list[str]:
    """Short ids of the memories that a page lists, in order, each once."""
    return list(dict.fromkeys(re.findall(r'id="fact-(f-[0-9a-z]+)"', page)))


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
