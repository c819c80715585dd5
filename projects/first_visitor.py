"""The first visitor of an empty installation: proves to be whoever started it by a one-time code."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from django.conf import settings
from django.db import IntegrityError, transaction

from projects import tenancy
from projects.models import Installation, Person

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


class WrongCode(Exception):
    """The code is not the one that was printed last, or somebody has signed up already."""


class ForeignDataFolder(Exception):
    """This process has another data folder (secrets, pepper) than the database was set up with."""


def _hash(code: str) -> str:
    return hmac.new(settings.LOOKUP_KEY, code.replace("-", "").strip().lower().encode(), hashlib.sha256).hexdigest()


def installation() -> Installation:
    """The installation's row, made on first use. Raises ForeignDataFolder when the database belongs to another."""
    row, _ = Installation.objects.get_or_create(pk=1, defaults={"data_fingerprint": settings.DATA_FINGERPRINT})
    if row.data_fingerprint != settings.DATA_FINGERPRINT:
        raise ForeignDataFolder(
            f"This database was set up with another data folder than {settings.DATA_DIR}. "
            "Point COUNTERSIGN_DATA at the folder it was set up with, or at a shared volume."
        )
    return row


def is_empty() -> bool:
    return not Person.objects.exists()


def code() -> str | None:
    """A fresh code for the first visitor (the one before stops working), or None when there is a person already."""
    with tenancy.system("first visitor"):
        row = installation()
        if not is_empty():
            return None
        fresh = "-".join("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(3))
        row.first_code_hash = _hash(fresh)
        row.save(update_fields=["first_code_hash"])
        return fresh


def welcome(given: str, email: str, name: str, password: str) -> Person:
    """The first person, operator of the installation. Raises WrongCode; two visitors at once cannot both come in."""
    with tenancy.system("first visitor"):
        row = Installation.objects.select_for_update().filter(pk=1).first()
        if row is None or not row.first_code_hash or not hmac.compare_digest(row.first_code_hash, _hash(given)):
            raise WrongCode
        if not is_empty():
            raise WrongCode
        try:
            with transaction.atomic():
                person = Person.objects.create_person(email, name=name, password=password, is_operator=True)
        except IntegrityError:
            # A command made this very account a moment ago.
            raise WrongCode from None
        row.first_code_hash = ""
        row.save(update_fields=["first_code_hash"])
        return person
