"""What is known: what happened, what was proposed from it, who decided, who received it."""

from memory.models.brief_served import BriefServed, Retraction
from memory.models.decision import Decision, Verb
from memory.models.distill_job import MAX_ATTEMPTS, DistillJob, JobStatus
from memory.models.evidence import Evidence, quote_hash
from memory.models.fact import Fact, FactChanged, NotAllowed
from memory.models.fact_embedding import FactEmbedding
from memory.models.fact_status import TRANSITIONS, Status
from memory.models.observation import CaptureBatch, Observation, Payload
from memory.models.session import Session, SessionStatus, SessionSubject
from memory.models.subject import BadSubject, Subject

__all__ = [
    "MAX_ATTEMPTS",
    "TRANSITIONS",
    "BadSubject",
    "BriefServed",
    "CaptureBatch",
    "Decision",
    "DistillJob",
    "Evidence",
    "Fact",
    "FactChanged",
    "FactEmbedding",
    "JobStatus",
    "NotAllowed",
    "Observation",
    "Payload",
    "Retraction",
    "Session",
    "SessionStatus",
    "SessionSubject",
    "Status",
    "Subject",
    "Verb",
    "quote_hash",
]
