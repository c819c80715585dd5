"""What is answered about near-duplicates on one card: counted as one memory, each approved by itself, or all rejected.

Only what was ticked on the screen is touched, at the revision that was seen there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from memory.models import Fact, FactChanged, NotAllowed, Status
from projects.models import Membership
from review.deciding import batches
from review.deciding.batches import BatchResult, Items
from review.deciding.decisions import BadDecision

MERGE, AS_ONE, EACH, REJECT, LATER = "merge", "as_one", "each", "reject", "later"


def answer(
    membership: Membership, how: str, kept: tuple[int, int], items: Items, now: datetime, reason: str = ""
) -> BatchResult:
    """One answer about the `kept` memory and the ticked lines, in one act that one undo takes back.

    `how`: merge (the lines are counted where the kept one is), as_one (and that is countersigned), each, reject, later.
    Raises BadDecision, NotAllowed, and FactChanged where the kept one is not as it was seen.
    """
    target = Fact.objects.select_related("subject").filter(pk=kept[0], project=membership.project).first()
    if target is None:
        raise NotAllowed(_("The memory to keep is gone by now."))
    if target.revision != kept[1]:
        raise FactChanged(target)
    items = [(pk, revision) for pk, revision in items if pk != target.pk]
    if not items and how != EACH:
        raise BadDecision(_("Tick at least one line that says the same."))
    if len(items) != Fact.objects.filter(pk__in=[pk for pk, _seen in items], subject=target.subject_id).count():
        raise BadDecision(_("The lines are about different subjects. Reload the page."))
    whole = [kept, *items] if target.status == Status.PROPOSED else [*items]
    if how == MERGE:
        return batches.merge_all(membership, kept, items, now)
    if how == AS_ONE:
        return _as_one(membership, target, items, now)
    if how == EACH:
        return batches.approve_all(membership, whole, now, asked=True)
    if how == REJECT:
        return batches.reject_all(membership, whole, reason, now)
    if how == LATER:
        return batches.put_off_all(membership, whole, now + timedelta(days=1), now)
    raise BadDecision(_("This is no decision that can be made."))


@transaction.atomic
def _as_one(membership: Membership, target: Fact, items: Items, now: datetime) -> BatchResult:
    """The kept one countersigned, the lines counted there: all of it, or nothing where it cannot be approved."""
    approved = batches.approve_all(membership, [(target.pk, target.revision)], now, asked=True)
    if not approved.done:
        raise BadDecision(
            _("It cannot be approved as one: %(why)s. Decide it on its own card.") % {"why": approved.skipped[0][1]}
        )
    target.refresh_from_db()
    merged = batches.merge_all(membership, (target.pk, target.revision), items, now, batch=approved.batch)
    if not merged.done:
        raise BadDecision(
            _("None of the lines could be counted there: %(why)s. Reload the page.") % {"why": merged.skipped[0][1]}
        )
    return replace(merged, done=(target, *merged.done), first=approved.words)
