"""Which cards are risky, and why: an instruction from a tool or the web, personal data, more agents than usual.

A risky card hides its quote until a person opens it, is never ticked in a list, never approved on arrival, and an
instruction from a tool or the web takes two people. Evidence first: nobody signs what they have not read.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory import suspicions
from memory.models import Evidence, Fact, Observation, Status
from projects.models import Agent

PERSONAL = ("health", "payment", "contact")
# Tools that bring what somebody else wrote, whatever they are called.
_WEB_TOOL = re.compile(
    r"web|brows|fetch|http|url|search_?engine|google|bing|crawl|scrap|page|tavily|exa(?![a-z])|firecrawl|playwright|puppeteer",
    re.IGNORECASE,
)
_NO_WEB_TOOL = re.compile(r"\b(?:git[_ -]?fetch|fetch[_ -]?(?:file|rows|record)s?)\b", re.IGNORECASE)


class Origin(StrEnum):
    """Where a memory comes from, the least trusted first."""

    WEB = "web"
    TOOL = "tool"
    UNKNOWN = "unknown"  # quoted, and the source is gone
    AGENT = "agent"  # an agent's own words, or its proposal without a quote
    USER = "user"
    IMPORT = "import"
    PERSON = "person"  # written by hand


LEAST_TRUSTED = tuple(Origin)
# What nobody at the desk said: an instruction from there is a risk.
FOREIGN = (Origin.WEB, Origin.TOOL, Origin.UNKNOWN)


@dataclass(frozen=True)
class Risk:
    """Why a card is risky: `reasons` are codes of `instruction`, `personal`, `crosses`; `origin` where it comes from.

    `order` holds the words that give the order, agent text; `categories` those of its personal data.
    """

    reasons: tuple[str, ...]
    origin: Origin
    order: str = ""
    categories: tuple[str, ...] = ()
    has_quote: bool = False

    @property
    def is_instruction(self) -> bool:
        return "instruction" in self.reasons

    @property
    def needs_two(self) -> bool:
        """Whether one person's yes is not enough: an instruction that came from a tool or the web."""
        return self.is_instruction

    @property
    def needs_opening(self) -> bool:
        """Whether Approve is off until the quote was opened; without a quote there is nothing to open."""
        return self.has_quote


def risk_of(
    fact: Fact, evidence: Iterable[Evidence] | None = None, agents: Sequence[Agent] | None = None
) -> Risk | None:
    """Why this memory is risky, or None. `evidence` with its observations and the project's `agents` (those not
    archived) are fetched where the caller does not have them: two queries, and one where the number of agents says
    nothing of its type."""
    rows = list(_quoted([fact.pk]) if evidence is None else evidence)
    count = len(agents) if agents is not None else _agent_count(fact)
    known = fact.related if fact.related_id is not None and crosses(fact, count) else None
    return _risk(fact, rows, count, known)


def _agent_count(fact: Fact) -> int:
    """How many agents there are, where `crosses` asks; else 0."""
    is_asked = fact.type_row.own_agent_only and fact.everyone
    return fact.project.agents.filter(archived_at__isnull=True).count() if is_asked else 0


def risks_of(facts: Iterable[Fact]) -> dict[int, Risk]:
    """The risky ones among these memories, by id: at most three queries, however many they are (and their projects)."""
    wanted = list(facts)
    if not wanted:
        return {}
    rows: dict[int, list[Evidence]] = defaultdict(list)
    for row in _quoted([fact.pk for fact in wanted]):
        rows[row.fact_id].append(row)
    counts: dict[int, int] = defaultdict(int)
    projects = {fact.project_id for fact in wanted}
    for project_id in Agent.objects.filter(project__in=projects, archived_at__isnull=True).values_list(
        "project_id", flat=True
    ):
        counts[project_id] += 1
    beside = {fact.related_id for fact in wanted if fact.related_id and crosses(fact, counts[fact.project_id])}
    known = Fact.objects.defer("search").in_bulk(beside) if beside else {}
    found = {
        fact.pk: _risk(fact, rows[fact.pk], counts[fact.project_id], known.get(fact.related_id or 0)) for fact in wanted
    }
    return {pk: risk for pk, risk in found.items() if risk is not None}


def _quoted(ids: list[int]):  # type: ignore[no-untyped-def]
    """Evidence with what tells where it comes from, without the long texts of its observations."""
    return (
        Evidence.objects.filter(fact__in=ids)
        .select_related("observation")
        .defer("observation__text", "observation__paths", "observation__findings")
        .order_by("fact", "pk")
    )


def _risk(fact: Fact, evidence: list[Evidence], agent_count: int, known: Fact | None) -> Risk | None:
    origin = origin_of(fact, evidence)
    if origin == Origin.PERSON:
        return _of_marked(fact, evidence)
    reasons = []
    order = order_of(fact, evidence) if origin in FOREIGN else ""
    if order:
        reasons.append("instruction")
    found = {row.get("category", "") for row in fact.findings if isinstance(row, dict)}
    categories = tuple(name for name in PERSONAL if name in found)
    if categories:
        reasons.append("personal")
    if crosses(fact, agent_count) and not _reached_already(fact, known):
        reasons.append("crosses")
    return Risk(tuple(reasons), origin, order, categories, bool(evidence)) if reasons else None


def _of_marked(fact: Fact, evidence: list[Evidence]) -> Risk | None:
    """What a person wrote is theirs; but words that they marked in what a page or a tool said are still its words."""
    behind = _least_trusted(evidence)
    order = order_of(fact, evidence) if behind in FOREIGN else ""
    return Risk(("instruction",), behind, order, (), True) if behind is not None and order else None


def crosses(fact: Fact, agent_count: int) -> bool:
    """Whether it goes to more agents than the one that its type keeps it with."""
    if not fact.type_row.own_agent_only:
        return False
    if fact.everyone:
        return agent_count > 1
    own = {fact.proposed_by_agent_id} if fact.proposed_by_agent_id is not None else set(fact.agent_ids[:1])
    return not own.issuperset(fact.agent_ids)


def _reached_already(fact: Fact, known: Fact | None) -> bool:
    """Whether the live memory it is about goes to the same agents: somebody chose them then."""
    if known is None or known.status != Status.APPROVED:
        return False
    return known.everyone or (not fact.everyone and set(known.agent_ids).issuperset(fact.agent_ids))


def order_of(fact: Fact, evidence: Iterable[Evidence]) -> str:
    """The words in the memory, in its quotes or in the lines beside them that give an order to a machine, or ""."""
    own = [fact.text, fact.key]
    if fact.value not in (None, "", fact.text):
        own.append(fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False))
    for text in own:
        if found := suspicions.order_in(text):
            return found
    for row in evidence:
        # A quote may begin in one line and end in the next: read whole with what stands round it.
        if found := suspicions.order_in(row.quote) or suspicions.order_in(f"{row.before}\n{row.quote}\n{row.after}"):
            return found
    return ""


def origin_of(fact: Fact, evidence: Iterable[Evidence]) -> Origin:
    """Where it comes from: of several quotes, the least trusted."""
    if fact.source == "manual" and fact.proposed_by_id is not None:
        return Origin.PERSON
    behind = _least_trusted(evidence)
    return behind or (Origin.IMPORT if fact.source == "import" else Origin.AGENT)


def _least_trusted(evidence: Iterable[Evidence]) -> Origin | None:
    """Where these quotes come from, the least trusted of several; None without any."""
    found = {Origin.UNKNOWN if row.observation is None else origin(row.observation) for row in evidence}
    return next((one for one in LEAST_TRUSTED if one in found), None)


def origin(observation: Observation) -> Origin:
    """Where one turn comes from, by its kind, its role and the name of its tool."""
    if observation.kind == "message" and observation.role != "tool":
        return {"user": Origin.USER, "assistant": Origin.AGENT}.get(observation.role, Origin.UNKNOWN)
    if is_web(observation.tool):
        return Origin.WEB
    # What an agent typed into a shell or a file is its own; what came back is not.
    if observation.kind in ("tool_call", "action", "edit") and observation.role == "assistant":
        return Origin.AGENT
    return Origin.TOOL


def is_web(tool: str) -> bool:
    """Whether a tool of this name brings pages from elsewhere."""
    return bool(tool) and _WEB_TOOL.search(tool) is not None and _NO_WEB_TOOL.search(tool) is None
