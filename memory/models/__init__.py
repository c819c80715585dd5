"""What is known: what happened, what was proposed from it, who decided, who received it."""

from memory.models.brief_served import BriefServed, Retraction
from memory.models.decision import Decision, Verb
from memory.models.distill_job import MAX_ATTEMPTS, DistillJob, JobStatus
from memory.models.evidence import Evidence, quote_hash
from memory.models.fact import Fact, FactChanged, NotAllowed
from memory.models.fact_embedding import FactEmbedding
from memory.models.fact_status import TRANSITIONS, Relation, Status
from memory.models.feedback import Feedback, Verdict
from memory.models.model_call import ModelCall
from memory.models.observation import CaptureBatch, Observation, Payload
from memory.models.served_count import FactServed, ServedThrough, SubjectServed
from memory.models.session import Session, SessionKind, SessionStatus, SessionSubject
from memory.models.standing_part import StandingPart
from memory.models.subject import BadSubject, Subject
from memory.models.suppression import Suppression

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
    "FactServed",
    "Feedback",
    "JobStatus",
    "ModelCall",
    "NotAllowed",
    "Observation",
    "Payload",
    "Relation",
    "Retraction",
    "ServedThrough",
    "Session",
    "SessionKind",
    "SessionStatus",
    "SessionSubject",
    "StandingPart",
    "Status",
    "Subject",
    "SubjectServed",
    "Suppression",
    "Verb",
    "Verdict",
    "quote_hash",
]
