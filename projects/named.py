"""Finds, or adds, what a command's arguments name, or says in a sentence what to do."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.db.models import Model

from projects.models import Agent, Person, Project


def project(slug: str) -> Project:
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(
            f"There is no project {slug} {_looked_in()}. Make it with: manage.py create_project {slug}, "
            "or name another data folder: COUNTERSIGN_DATA=DIR manage.py …"
        )
    return found


def _looked_in() -> str:
    """Two installations on one machine are told apart by their folder."""
    return "in DATABASE_URL" if os.environ.get("DATABASE_URL") else f"in {settings.DATA_DIR}"


def agent(owner: Project, slug: str) -> Agent:
    """An agent that is not archived."""
    found = Agent.objects.filter(project=owner, slug=slug).first()
    if found is None:
        raise CommandError(
            f"Project {owner.slug} has no agent {slug}. Make it with: manage.py create_agent {owner.slug} {slug}"
        )
    if found.archived_at is not None:
        raise CommandError(f"Agent {slug} of project {owner.slug} is archived. Bring it back in its settings first.")
    return found


def person(email: str, owner: Project) -> Person:
    found = Person.objects.filter(email__iexact=email.strip()).first()
    if found is None:
        raise CommandError(
            f"Nobody has the address {email}. Make an account with: "
            f"manage.py create_person {email} --role viewer --project {owner.slug}"
        )
    return found


def added(row: Model) -> bool:
    """Saves a new row. False when somebody else made it between the look for it and this moment."""
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        return False
    return True


def refuse_unfit(row: Model, *fields: str) -> None:
    """Checks these fields of an unsaved row; raises CommandError with the field's own sentence."""
    others = {field.name for field in row._meta.fields} - set(fields)
    try:
        row.full_clean(exclude=others, validate_unique=False, validate_constraints=False)
    except ValidationError as wrong:
        raise CommandError(" ".join(wrong.messages)) from None
