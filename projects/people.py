"""Who comes into a project, with which role, and who leaves it. Every step is audited by ids."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from projects import audit, tenancy
from projects.models import Invitation, Membership, Person, Project, Role
from projects.models.membership import RANK


class SlugTaken(Exception):
    """Another project of this installation has this short name."""


class AlreadyMember(Exception):
    """This address belongs to somebody who is in the project already."""


class AddressTaken(Exception):
    """Somebody has this address: another invitation to it was accepted at this very moment."""


class LastOwner(Exception):
    """A project keeps at least one owner, else nobody could invite, connect or hand over."""


def found_project(
    operator: Person, *, slug: str, name: str, timezone: str, owner_email: str, now: datetime
) -> tuple[Project, str]:
    """A new project and its owner: the operator, or whoever is invited to be (then the token of the link is returned,
    which is not stored; else an empty string). Raises SlugTaken."""
    with tenancy.system("operator"):
        try:
            with transaction.atomic():
                project = Project.objects.create(slug=slug, name=name, timezone=timezone)
        except IntegrityError:
            raise SlugTaken from None
        _record("project.create", operator, project, "project", project.pk, now)
        if owner_email.strip().lower() == operator.email:
            membership = Membership.objects.create(project=project, person=operator, role=Role.OWNER)
            _record("membership.create", operator, project, "membership", membership.pk, now)
            if operator.timezone == "UTC":
                operator.timezone = timezone
                operator.save(update_fields=["timezone"])
            return project, ""
        return project, invite(project, owner_email, Role.OWNER, by=operator, now=now)


def invite(project: Project, email: str, role: str, *, by: Person, now: datetime) -> str:
    """The token of a new link for this address; an earlier link to it ends. Raises AlreadyMember."""
    email = email.strip().lower()
    # A button pressed twice must not leave a link that nobody sees.
    Project.objects.select_for_update().get(pk=project.pk)
    if Membership.objects.filter(project=project, person__email__iexact=email).exists():
        raise AlreadyMember
    for earlier in Invitation.objects.filter(project=project, email=email, accepted_at=None):
        withdraw(earlier, by=by, now=now)
    invitation, token = Invitation.objects.invite(project, email, role, by, now)
    _record("invitation.create", by, project, "invitation", invitation.pk, now)
    return token


def withdraw(invitation: Invitation, *, by: Person, now: datetime) -> None:
    """Ends an open invitation; its address is forgotten with it."""
    project_id, pk = invitation.project_id or 0, invitation.pk
    invitation.delete()
    audit.record("invitation.withdraw", by, project_id=project_id, object_kind="invitation", object_ids=[pk], now=now)


def sign_up(invitation: Invitation, *, name: str, password: str) -> Person:
    """An account for the invited address, whose link proves it. Raises AddressTaken. Run it as "invitation"."""
    zone = invitation.project.timezone if invitation.project else "UTC"
    try:
        with transaction.atomic():
            return Person.objects.create_person(invitation.email, name=name, password=password, timezone=zone)
    except IntegrityError:
        raise AddressTaken from None


def accept(invitation: Invitation, person: Person, now: datetime) -> None:
    """Gives the person what the invitation promises. A higher role they hold already stays. Run it as "invitation"."""
    if invitation.project is not None:
        membership, is_new = Membership.objects.get_or_create(
            project=invitation.project, person=person, defaults={"role": invitation.role}
        )
        if not is_new and RANK[membership.role] < RANK[invitation.role]:
            membership.role = invitation.role
            membership.save(update_fields=["role"])
    if invitation.is_compliance or invitation.is_operator:
        person.is_compliance = person.is_compliance or invitation.is_compliance
        person.is_operator = person.is_operator or invitation.is_operator
        person.save(update_fields=["is_compliance", "is_operator"])
    invitation.accepted_at = now
    invitation.save(update_fields=["accepted_at"])
    audit.record(
        "invitation.accept",
        person,
        project_id=invitation.project_id or 0,
        object_kind="invitation",
        object_ids=[invitation.pk],
        now=now,
    )


def change_role(membership: Membership, role: str, *, by: Person, now: datetime) -> None:
    """Raises LastOwner, also when two owners step down at once."""
    if role == membership.role:
        return
    if role != Role.OWNER:
        _keep_an_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    _record("membership.role", by, membership.project, "membership", membership.pk, now)


def remove(membership: Membership, *, by: Person, now: datetime) -> None:
    """Takes somebody out of the project; the keys issued to them end. Raises LastOwner."""
    _keep_an_owner(membership)
    project, pk = membership.project, membership.pk
    for key in project.api_keys.filter(person_id=membership.person_id, revoked_at=None):
        key.revoke(now)
        _record("key.revoke", by, project, "key", key.pk, now)
    membership.delete()
    _record("membership.remove", by, project, "membership", pk, now)


def _keep_an_owner(membership: Membership) -> None:
    """Locks the project, so that of two owners who leave at once the second is refused."""
    Project.objects.select_for_update().get(pk=membership.project_id)
    others = Membership.objects.filter(project_id=membership.project_id, role=Role.OWNER).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise LastOwner


def _record(action: str, by: Person, project: Project, kind: str, pk: int, now: datetime) -> None:
    audit.record(action, by, project_id=project.pk, object_kind=kind, object_ids=[pk], now=now)
