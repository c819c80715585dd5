"""Somebody who can sign in, from the command line."""

from __future__ import annotations

import secrets
import sys
from datetime import datetime
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.utils import timezone

from projects import audit, named, tenancy
from projects.models import Membership, Person, Role


class Command(BaseCommand):
    help = (
        "Make somebody who can sign in, in a role of a project or with a duty for the whole installation. "
        "Without --password-stdin a new person gets a password that is printed once, alone on the last line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL")
        parser.add_argument("--name", default="", help="how their signature reads (default: the address before the @)")
        parser.add_argument("--role", choices=Role.values, help="with --project")
        parser.add_argument("--project", metavar="SLUG")
        parser.add_argument("--compliance", action="store_true", help="privacy requests and audit of all projects")
        parser.add_argument("--operator", action="store_true", help="accounts, projects and health; no memory text")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip().lower()
        try:
            validate_email(email)
        except ValidationError:
            raise CommandError("That is no e-mail address.") from None
        if bool(options["role"]) != bool(options["project"]):
            raise CommandError("--role and --project go together: --role reviewer --project shop")
        if not (options["role"] or options["compliance"] or options["operator"]):
            raise CommandError("Say what they do: --role reviewer --project SLUG, --compliance, or --operator.")
        now = timezone.now()
        with tenancy.system("command"):
            project = named.project(options["project"]) if options["project"] else None
            person, password = self._person(email, options, now)
            self._duties(person, options, now)
            if project is not None:
                self._membership(person, project, options["role"], now)
        if password:
            self.stdout.write("Their password, which is not shown again:")
            self.stdout.write(password)

    def _person(self, email: str, options: dict[str, Any], now: datetime) -> tuple[Person, str]:
        """The person, and the password that was made up for them, if one was."""
        person = Person.objects.filter(email__iexact=email).first()
        is_new = person is None
        person = person or Person(email=email, name=options["name"].strip())
        made_up = ""
        if options["password_stdin"]:
            person.set_password(_from_stdin(person))
        elif is_new:
            made_up = secrets.token_urlsafe(12)
            person.set_password(made_up)
        if options["name"].strip():
            person.name = options["name"].strip()
        named.refuse_unfit(person, "email", "name")
        if not named.added(person):
            raise CommandError(f"Somebody made the account {email} at this very moment. Run the same again.")
        if is_new:
            _record("person.create", 0, "person", person.pk, now)
        self.stdout.write(f"{email} {'can sign in now' if is_new else 'has an account already'}.")
        return person, made_up

    def _duties(self, person: Person, options: dict[str, Any], now: datetime) -> None:
        for flag in ("compliance", "operator"):
            if options[flag] and not getattr(person, f"is_{flag}"):
                setattr(person, f"is_{flag}", True)
                person.save(update_fields=[f"is_{flag}"])
                _record(f"person.{flag}", 0, "person", person.pk, now)

    def _membership(self, person: Person, project: Any, role: str, now: datetime) -> None:
        membership, is_new = Membership.objects.get_or_create(project=project, person=person, defaults={"role": role})
        if is_new:
            _record("membership.create", project.pk, "membership", membership.pk, now)
        elif membership.role != role:
            owners = Membership.objects.filter(project=project, role=Role.OWNER).exclude(pk=membership.pk)
            if membership.is_owner and not owners.exists():
                raise CommandError(f"{person.email} is the only owner of {project.slug}. Make another owner first.")
            membership.role = role
            membership.save(update_fields=["role"])
            _record("membership.role", project.pk, "membership", membership.pk, now)
        self.stdout.write(f"{person.email} is {role} of project {project.slug}.")


def _from_stdin(person: Person) -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_password(password, person)
    except ValidationError as weak:
        raise CommandError(" ".join(weak.messages)) from None
    return password


def _record(action: str, project_id: int, kind: str, pk: int, now: datetime) -> None:
    audit.record(action, None, project_id=project_id, object_kind=kind, object_ids=[pk], now=now)
