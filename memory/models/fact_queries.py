"""Which facts: everything that reads many facts starts here, for an agent with `visible_to`."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from memory.models.fact_status import Status
from memory.types import single_valued
from projects.models import Agent

if TYPE_CHECKING:
    from memory.models.fact import Fact


class FactQuerySet(models.QuerySet["Fact"]):
    def visible_to(self, agent: Agent, now: datetime) -> Self:
        """What this agent may receive, by any door: approved, unexpired by the clock, in its scope, its subject not
        frozen, neither it nor its project paused. Where the agent has a value of its own for a single-valued key,
        everyone's value stays behind it."""
        if agent.paused_at or agent.archived_at or agent.project.paused_at:
            return self.none()
        mine = Q(everyone=True) | Q(agent_ids__contains=[agent.pk])
        own_value = self.model._default_manager.filter(
            subject_id=models.OuterRef("subject_id"),
            type=models.OuterRef("type"),
            key=models.OuterRef("key"),
            type__in=single_valued(agent.project.types),
            status=Status.APPROVED,
            everyone=False,
            agent_ids__contains=[agent.pk],
        ).filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        return (
            self.filter(project_id=agent.project_id)
            .live(now)
            .filter(mine)
            .exclude(Q(everyone=True) & models.Exists(own_value))
        )

    def live(self, now: datetime) -> Self:
        """Approved and unexpired by the clock, its subject not frozen: whoever may see it."""
        return self.filter(status=Status.APPROVED, subject__frozen_at__isnull=True).filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=now)
        )

    def waiting(self, now: datetime) -> Self:
        """Proposed, and not put off until later."""
        return self.filter(status=Status.PROPOSED).filter(Q(put_off_until__isnull=True) | Q(put_off_until__lte=now))

    def due_for_review(self, now: datetime) -> Self:
        """Live memories that a person is asked about again: an agent complained, or its type says it is time."""
        return (
            self.live(now)
            .filter(review_due_at__lte=now)
            .filter(Q(put_off_until__isnull=True) | Q(put_off_until__lte=now))
        )

    def lay_in_pile(self, ids: Collection[int], now: datetime) -> int:
        """These proposals lie in somebody's pile for the first time: their 30 days count from now.

        One that somebody decides at this moment is passed over until the next look: two people, each with a decision
        in hand, would otherwise wait for one another here.
        """
        new = self.filter(pk__in=ids, status=Status.PROPOSED, piled_at__isnull=True)
        return self.filter(pk__in=new.select_for_update(skip_locked=True).values("pk")).update(piled_at=now)

    def asking(self, now: datetime) -> Self:
        """Everything that a person is asked about: proposals that wait, and live memories that are due."""
        now_or_never = Q(put_off_until__isnull=True) | Q(put_off_until__lte=now)
        live = Q(status=Status.APPROVED, subject__frozen_at__isnull=True, review_due_at__lte=now) & (
            Q(expires_at__isnull=True) | Q(expires_at__gt=now)
        )
        return self.filter(Q(status=Status.PROPOSED) | live, now_or_never)

    def rivals_of(self, fact: Fact) -> Self:
        """Approved values of the same single-valued key whose readers overlap with this fact's.

        An agent's own value and everyone's stand side by side, so they are no rivals."""
        if not fact.type_row.single_valued:
            return self.none()
        found = self.filter(
            subject_id=fact.subject_id, type=fact.type, key=fact.key, status=Status.APPROVED, everyone=fact.everyone
        ).exclude(pk=fact.pk)
        return found if fact.everyone else found.filter(agent_ids__overlap=fact.agent_ids)
