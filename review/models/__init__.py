"""Nouns of reviewing: who looks at what, what was sampled, what keeps reviewers awake, who is told."""

from review.models.assignment import Assignment
from review.models.gold import GoldAnswer, GoldItem
from review.models.lease import Lease
from review.models.notice import Notice, NoticeKind
from review.models.sample import Sample
from review.models.saved_view import SavedView
from review.models.sitting import Sitting
from review.models.webhook import Webhook

__all__ = [
    "Assignment",
    "GoldAnswer",
    "GoldItem",
    "Lease",
    "Notice",
    "NoticeKind",
    "Sample",
    "SavedView",
    "Sitting",
    "Webhook",
]
