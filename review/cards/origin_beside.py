"""What else came from where a risky memory comes from: the same page, or the same session."""

from __future__ import annotations

from dataclasses import dataclass

from memory.models import Evidence, Fact, Status
from review.cards.proof import Proof

MOST_SHOWN = 3
# One act takes no more; the rest waits for the next one.
MOST_TOGETHER = 50
_SHOWN = (Status.PROPOSED, Status.APPROVED, Status.REJECTED)


@dataclass(frozen=True)
class Alike:
    """Other memories from one place. `place` is `page` or `session`; `waiting` are those that can be rejected together
    with this one, itself first."""

    place: str
    page: str
    shown: tuple[Fact, ...]
    count: int
    waiting: tuple[Fact, ...]

    @property
    def waiting_count(self) -> int:
        return len(self.waiting)


def from_same_place(fact: Fact, proofs: tuple[Proof, ...]) -> Alike | None:
    """What else came from the page, or the session, of the first proof; None where nothing did. Two queries."""
    proof = next((one for one in proofs if one.session is not None), None)
    if proof is None or proof.session is None:
        return None
    sources = [("session", Evidence.objects.filter(observation__session=proof.session))]
    if proof.page:
        sources.insert(0, ("page", Evidence.objects.filter(observation__in=proof.quoted)))
    for place, quoted in sources:
        others = list(
            Fact.objects.filter(project_id=fact.project_id, pk__in=quoted.values("fact"), status__in=_SHOWN)
            .exclude(pk=fact.pk)
            .select_related("subject")
            .order_by("pk")[:MOST_TOGETHER]
        )
        if others:
            waiting = [one for one in others if one.status == Status.PROPOSED]
            return Alike(place, proof.page, tuple(others[:MOST_SHOWN]), len(others), (fact, *waiting))
    return None
