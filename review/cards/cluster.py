"""Near-duplicates of one subject as one card: which sentence is kept, which lines say the same, and which stay out.

Plain values made of rows, as in `review.cards.card`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _

from memory import likeness
from memory.models import Evidence, Fact, Relation, Status
from memory.served import briefs_with
from projects.prepared import Statement, run
from review.cards.pieces import MASKED, Piece, masked, visible
from review.cards.proof import proofs_of
from review.cards.risk import Risk, risks_of
from review.cards.suspect import is_suspect

# Lines that one card shows. What is beyond makes a card of its own when these are decided.
MOST = 25
# How long a chain is followed, and how wide.
LINKS, LOOKED_AT = 12, 200
# From the one end of a link or from the other; the subject, which may hold thousands, only chooses among these.
_LINKED = """
WITH near AS MATERIALIZED (
    SELECT id, related_id, subject_id, status, relation FROM memory_fact WHERE id = ANY (%(chain)s::bigint[])
    UNION
    SELECT id, related_id, subject_id, status, relation FROM memory_fact WHERE related_id = ANY (%(chain)s::bigint[])
)
SELECT n.id, n.related_id FROM near n JOIN memory_fact r ON r.id = n.related_id
WHERE n.subject_id = %(subject)s::bigint AND n.status = 'proposed' AND n.relation = '{same}'
    AND r.status IN ('proposed', 'approved')
LIMIT {most}
""".replace("{same}", Relation.SAME_THING.value).replace("{most}", str(LOOKED_AT))
SAYS_THE_SAME = (likeness.SAME, likeness.SAME_THING)


@dataclass(frozen=True)
class Line:
    """One proposal of the cluster. `out`: why it cannot be ticked; `note`: what is to be known of it; mostly empty."""

    fact: Fact
    pieces: tuple[Piece, ...]
    quote: tuple[Piece, ...]
    agent: str
    session: str
    at: datetime
    is_ticked: bool
    out: str = ""
    note: str = ""

    @property
    def tick(self) -> str:
        return f"{self.fact.short_id}.{self.fact.revision}"

    @property
    def words(self) -> str:
        """The sentence as it is shown, for who hears it."""
        return "".join(text for _mark, text in self.pieces)


@dataclass(frozen=True)
class Cluster:
    """What one card asks about: the memory that is kept and, line by line, what says the same.

    `count` proposals in all, the kept one among them where it waits itself.
    """

    kept: Fact
    lines: tuple[Line, ...]
    count: int
    more: int
    kept_pieces: tuple[Piece, ...]
    kept_quote: tuple[Piece, ...]
    briefs: int

    @property
    def is_live(self) -> bool:
        return self.kept.status == Status.APPROVED

    @property
    def kept_tick(self) -> str:
        return f"{self.kept.short_id}.{self.kept.revision}"


def cluster_of(fact: Fact, now: datetime) -> Cluster | None:
    """The cluster that this proposal is in, or None where fewer than three memories say the same (two make a pair), and
    where it has to be read by itself: what is shut on its own card is opened there.

    One query where nothing else says the same; else about ten, and one for each quote that is shown.
    """
    if fact.status != Status.PROPOSED or fact.standing:
        return None
    ids = _chain(fact)
    if len(ids) < 3:
        return None
    waits = Q(status=Status.PROPOSED) & (Q(put_off_until__isnull=True) | Q(put_off_until__lte=now) | Q(pk=fact.pk))
    live = Q(status=Status.APPROVED) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    found = list(
        Fact.objects.filter(waits | live, pk__in=ids, subject=fact.subject_id, standing=False)
        .select_related("subject", "project", "approved_by", "proposed_by_agent", "proposed_by", "related")
        .defer("search")
        .order_by("pk")
    )
    quoted: dict[int, list[Evidence]] = {one.pk: [] for one in found}
    rows = Evidence.objects.filter(fact__in=quoted).select_related("observation__session__agent").order_by("pk")
    for row in rows:
        quoted[row.fact_id].append(row)
    risks = risks_of([one for one in found if one.status == Status.PROPOSED])
    if _out(fact, quoted.get(fact.pk, []), risks.get(fact.pk)):
        return None
    kept = max(found, key=lambda one: _fitness(one, quoted[one.pk], risks.get(one.pk)))
    others = [one for one in found if one.pk != kept.pk and one.status == Status.PROPOSED]
    if len(others) + (kept.status == Status.PROPOSED) < 2 or len(others) < 1 or len(found) < 3:
        return None
    lines = [_line(one, kept, quoted[one.pk], risks.get(one.pk)) for one in others[:MOST]]
    if all(line.out for line in lines):
        return None
    is_proposed = kept.status == Status.PROPOSED
    return Cluster(
        kept=kept,
        lines=tuple(lines),
        count=len(others) + is_proposed,
        more=max(0, len(others) - MOST),
        kept_pieces=tuple(visible(kept.text)),
        kept_quote=_quote(quoted[kept.pk]),
        briefs=0 if is_proposed else briefs_with(kept),
    )


def asked(fact: Fact) -> Statement:
    """What `cluster_of` asks first, to be asked ahead with others."""
    return _linked({fact.pk}, fact)


def _linked(chain: set[int], fact: Fact) -> Statement:
    return _LINKED, {"chain": sorted(chain), "subject": fact.subject_id}


def _chain(fact: Fact) -> set[int]:
    """The ids of all that hang together by "says nearly the same", this one included.

    One query for a card that stands alone, whatever its subject holds; one more for each link of a chain.
    """
    chain: set[int] = {fact.pk}
    for _round in range(LINKS):
        found = run(Fact.objects.db, *_linked(chain, fact))
        grown = chain.union(*found)
        if grown == chain:
            break
        chain = grown
    return chain


def _fitness(fact: Fact, evidence: list[Evidence], risk: Risk | None) -> tuple[bool, bool, int, int, int]:
    """The greatest is kept: a live one, then one that nothing speaks against, then the one with most behind it."""
    is_clean = not _out(fact, evidence, risk)
    return fact.status == Status.APPROVED, is_clean, len(evidence), fact.times_seen, -fact.pk


def _line(fact: Fact, kept: Fact, evidence: list[Evidence], risk: Risk | None) -> Line:
    out = _out(fact, evidence, risk)
    is_same = fact.related_id == kept.pk or kept.related_id == fact.pk
    if not is_same:
        is_same = likeness.compare(kept.text, fact.text).verdict in SAYS_THE_SAME
    first = next((row.observation for row in evidence if row.observation is not None), None)
    session = first.session if first is not None else None
    proposer = fact.proposed_by.short_name if fact.proposed_by is not None else ""
    agent = session.agent.slug if session else fact.proposed_by_agent.slug if fact.proposed_by_agent else proposer
    # What is flagged is opened on its own card.
    pieces = tuple(masked(fact.text, fact.findings, MASKED) if out else visible(fact.text))
    quote = () if out else _quote(evidence)
    if quote and "".join(text for _mark, text in quote).strip() == fact.text.strip():
        # It says what was said, word for word: the marks stand on the sentence itself.
        pieces, quote = quote, ()
    return Line(
        fact=fact,
        pieces=pieces,
        quote=quote,
        agent=agent,
        session=session.external_id if session else "",
        at=fact.first_seen_at,
        is_ticked=is_same and not out,
        out=out,
        note="" if is_same or out else _("says something else"),
    )


def _quote(evidence: list[Evidence]) -> tuple[Piece, ...]:
    """The turn that the first quote stands in, its words marked."""
    proofs, _more = proofs_of(evidence[:1], 1)
    for proof in proofs:
        for stretch in proof.stretches:
            for turn in stretch.turns:
                if turn.is_hit:
                    return tuple(turn.pieces)
    return ()


def _out(fact: Fact, evidence: list[Evidence], risk: Risk | None) -> str:
    """Why this one is decided on its own card, or ""."""
    if any(row.verdict() == "mismatch" for row in evidence):
        return _("its quote is not in its source")
    if risk is not None or fact.findings or is_suspect(fact):
        return _("flagged")
    return ""
