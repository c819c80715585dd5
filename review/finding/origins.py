"""What else came from where a memory came from: the same session, the same host, the same tool.

When one thing learned from a page was wrong, the rest of it is suspect. Hosts and tools are looked for behind the last
quotes of the project, not in everything that was ever said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory import short_ids
from memory.models import Evidence, Fact, Observation, Session, Status
from memory.suspicions import hosts_in

# The project's last quotes, among which others from the same host or tool are looked for.
QUOTES_READ = 2_000
CALLS_READ = 200
SHOWN = 200
MOST_HOSTS = 3
# Everything comes from these: they say nothing about where words are from.
_OWN_TOOLS = frozenset("bash shell sh exec terminal read write edit grep glob ls local_shell apply_patch".split())  # noqa: SIM905


@dataclass(frozen=True)
class Origin:
    """A place, and what else was learned there, the newest first. `name` is `session:s-…`, `host:…` or `tool:…`."""

    name: str
    kind: str
    words: str
    facts: tuple[Fact, ...]
    session: Session | None = None

    @property
    def open_facts(self) -> tuple[Fact, ...]:
        """Those that can still be withdrawn or rejected."""
        return tuple(fact for fact in self.facts if fact.status in (Status.APPROVED, Status.PROPOSED))


@dataclass(frozen=True)
class _Quote:
    fact: int
    session: int | None
    tool: str
    call: str
    words: str


def origins_of(fact: Fact, behind: Fact | None = None) -> list[Origin]:
    """Where this memory was learned; about eight queries. Each place lists the other memories from there.

    `behind`: whose quotes stand behind it, where they are not its own; that one is not listed."""
    own = _quotes(Evidence.objects.filter(fact=behind or fact), 50)
    hidden = {fact.pk, (behind or fact).pk}
    sessions = list(
        Session.objects.filter(pk__in={quote.session for quote in own if quote.session})
        .select_related("agent")
        .order_by("-last_seen_at", "-pk")
    )
    found = [_of_session(fact, session, hidden) for session in sessions[:MOST_HOSTS]]
    tools = {quote.tool for quote in own if quote.tool and quote.tool.lower() not in _OWN_TOOLS}
    hosts = _hosts(fact, own)
    if tools or hosts:
        recent = _quotes(Evidence.objects.filter(project_id=fact.project_id), QUOTES_READ)
        for host in hosts:
            there = {quote.fact for quote in recent if host in quote.words} | _called(recent, host)
            found.append(Origin(f"host:{host}", "host", host, _others(fact, there - hidden)))
        for tool in sorted(tools):
            there = {quote.fact for quote in recent if quote.tool == tool}
            found.append(Origin(f"tool:{tool}", "tool", tool, _others(fact, there - hidden)))
    return _different(found)


def _different(origins: list[Origin]) -> list[Origin]:
    """Without places that lead to the same memories as one before them: a page opened in one session is all of it."""
    kept: dict[frozenset[int], Origin] = {}
    for origin in origins:
        kept.setdefault(frozenset(fact.pk for fact in origin.facts), origin)
    return list(kept.values())


def _of_session(fact: Fact, session: Session, hidden: set[int]) -> Origin:
    there = set(Evidence.objects.filter(observation__session=session).order_by().values_list("fact", flat=True))
    name = f"session:{short_ids.encode(session.pk, 's')}"
    return Origin(name, "session", session.external_id, _others(fact, there - hidden), session)


def _others(fact: Fact, ids: Iterable[int]) -> tuple[Fact, ...]:
    found = Fact.objects.filter(project_id=fact.project_id, pk__in=ids)
    return tuple(found.select_related("subject", "project").defer("search").order_by("-pk")[:SHOWN])


def _quotes(rows, most: int) -> list[_Quote]:  # type: ignore[no-untyped-def]
    fields = ("observation__session", "observation__tool", "observation__call_id", "quote", "before", "after")
    found = rows.order_by("-pk").values_list("fact", *fields)[:most]
    return [
        _Quote(pk, session, tool or "", call or "", f"{quote}\n{before}\n{after}".lower())
        for pk, session, tool, call, quote, before, after in found
    ]


def _calls(quotes: Iterable[_Quote]):  # type: ignore[no-untyped-def]
    """The calls whose results were quoted: an address is in the call, not in what came back."""
    there = [quote for quote in quotes if quote.call and quote.session][:CALLS_READ]
    return Observation.objects.filter(
        session__in={quote.session for quote in there}, call_id__in={quote.call for quote in there}, kind="tool_call"
    )


def _called(quotes: Iterable[_Quote], host: str) -> set[int]:
    quotes = [quote for quote in quotes if quote.call and quote.session][:CALLS_READ]
    if not quotes:
        return set()
    calls = set(_calls(quotes).filter(text__icontains=host).values_list("session", "call_id"))
    return {quote.fact for quote in quotes if (quote.session, quote.call) in calls}


def _hosts(fact: Fact, own: list[_Quote]) -> list[str]:
    texts = [fact.text, *(quote.words for quote in own)]
    if any(quote.call for quote in own):
        texts += _calls(own).order_by("pk").values_list("text", flat=True)[:20]
    return list(dict.fromkeys(host for text in texts for host in hosts_in(text[:20_000])))[:MOST_HOSTS]
