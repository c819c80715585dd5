"""What on a card tries to be more than it looks: an order, a host nobody approved, disguised letters, encoded text."""

from __future__ import annotations

from django.contrib.postgres.search import SearchQuery
from django.utils.translation import gettext as _

from memory import suspicions
from memory.models import Fact, Status
from review.cards.flag import SOURCE, WORD, Flag, isolated
from review.cards.proof import Proof
from review.cards.risk import Origin, Risk, order_of, origin_of
from review.cards.served_value import unsaid

# Hosts that a card asks about, and that it names.
MOST_HOSTS = 3


def suspects(fact: Fact, proofs: tuple[Proof, ...], risk: Risk | None) -> list[Flag]:
    """Flags of what is suspect, each with where it comes from. One query for each host that the memory names."""
    where = risk.origin if risk is not None else _origin(fact, proofs)
    own = f"{fact.text}\n{unsaid(fact)}\n{fact.key}"
    flags: list[Flag] = []
    is_risky = risk is not None and risk.is_instruction
    if where != Origin.PERSON and (is_risky or order_of(fact, ())):
        flags.append(Flag(*_of_order(fact, where), SOURCE, 10 if is_risky else 26))
    for found in suspicions.lookalikes_in(own)[:1]:
        named = {"script": found.script, "letters": isolated(found.letters), "word": isolated(found.word)}
        finding = _("%(script)s %(letters)s in “%(word)s”.") % named
        advice = _("It looks like “%(word)s” and is another word.") % {"word": isolated(found.reads)}
        flags.append(Flag(finding, advice, WORD, 25))
    for blob in suspicions.blobs_in(own)[:1]:
        finding = _("Part of it is encoded: %(code)s.") % {"code": blob.code}
        advice = _("A model may read “%(words)s”.") % {"words": isolated(blob.reads.rstrip(". "), 80)}
        flags.append(Flag(finding, advice, WORD, 27))
    for host in new_hosts(fact, own)[:1]:
        finding = _("%(host)s is new here.") % {"host": isolated(host, 60)}
        advice = _("No approved memory names it; it comes from %(origin)s.") % {"origin": origin_words(where)}
        flags.append(Flag(finding, advice, SOURCE, 28))
    return flags


def is_suspect(fact: Fact) -> bool:
    """Whether its words try to be more than they look: an order that no person wrote, disguised letters, encoded text.

    Such a memory is for its own card, wherever it comes from. No query.
    """
    own = f"{fact.text}\n{unsaid(fact)}\n{fact.key}"
    if suspicions.lookalikes_in(own) or suspicions.blobs_in(own):
        return True
    return fact.source != "manual" and bool(order_of(fact, ()))


def new_hosts(fact: Fact, text: str) -> list[str]:
    """The hosts in the text that no approved memory of this project names."""
    approved = Fact.objects.filter(project_id=fact.project_id, status=Status.APPROVED).exclude(pk=fact.pk)
    return [
        host
        for host in suspicions.hosts_in(text)[:MOST_HOSTS]
        if not approved.filter(search=SearchQuery(host, config="simple")).exists()
    ]


def origin_words(origin: Origin) -> str:
    """`a web page`, `a tool`, `the user`, … as they stand behind “from”."""
    return {
        Origin.WEB: _("a web page"),
        Origin.TOOL: _("a tool’s output"),
        Origin.UNKNOWN: _("a source that is gone"),
        Origin.AGENT: _("an agent"),
        Origin.USER: _("the user"),
        Origin.IMPORT: _("an import"),
        Origin.PERSON: _("a person"),
    }[origin]


def _origin(fact: Fact, proofs: tuple[Proof, ...]) -> Origin:
    if not proofs:
        return origin_of(fact, ())
    found = {proof.origin for proof in proofs}
    return next(one for one in Origin if one in found)


def _of_order(fact: Fact, where: Origin) -> tuple[str, str]:
    finding = _("This is an instruction, and it comes from %(origin)s.") % {"origin": origin_words(where)}
    nobody = _("No person at %(project)s said it.") % {"project": fact.project.name}
    advice = {
        Origin.WEB: nobody,
        Origin.TOOL: nobody,
        Origin.UNKNOWN: _("Nobody can look up who said it."),
        Origin.AGENT: _("An agent wrote it; ask yourself who told it to."),
        Origin.USER: _("Ask yourself whether they may set rules for agents."),
        Origin.IMPORT: _("Ask yourself who wrote that file."),
    }
    return finding, advice.get(where, "")
