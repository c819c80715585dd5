"""Who: projects, the people and agents in them, their keys, and the trail of what they did."""

from projects.models.agent import Agent
from projects.models.agent_config import AgentConfig
from projects.models.api_key import PERMISSIONS, ApiKey, hash_key
from projects.models.audit_event import ActorKind, AuditEvent
from projects.models.installation import Installation
from projects.models.invitation import Invitation, InvitationInvalid
from projects.models.membership import Membership, Role
from projects.models.person import Person
from projects.models.project import DistillerName, Project

__all__ = [
    "PERMISSIONS",
    "ActorKind",
    "Agent",
    "AgentConfig",
    "ApiKey",
    "AuditEvent",
    "DistillerName",
    "Installation",
    "Invitation",
    "InvitationInvalid",
    "Membership",
    "Person",
    "Project",
    "Role",
    "hash_key",
]
