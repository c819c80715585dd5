from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower

if TYPE_CHECKING:
    from projects.models.project import Project


class PersonManager(BaseUserManager["Person"]):
    def create_person(self, email: str, name: str = "", password: str | None = None, **extra: Any) -> Person:
        """A person who can sign in (without a password: once an invitation or a reset has set one)."""
        person = self.model(email=self.normalize_email(email).lower(), name=name.strip(), **extra)
        person.set_password(password)
        person.save(using=self._db)
        return person

    # Django's own commands and allauth look for this name.
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> Person:
        return self.create_person(email, password=password, **extra)

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email__iexact=username)


class Person(AbstractBaseUser):
    """Somebody who signs in: a reviewer, an owner, a compliance officer, an operator.

    Holds a name and an e-mail address, for as long as the account exists. What they may do in a project stands in
    Membership; the two flags hold for the whole installation. An operator sees no memory text.
    """

    email = models.EmailField(max_length=254)
    name = models.CharField(max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    is_operator = models.BooleanField(default=False)
    is_compliance = models.BooleanField(default=False)
    # Empty: the zone of the project in front of them.
    timezone = models.CharField(max_length=64, default="UTC", blank=True)
    theme = models.CharField(max_length=6, default="system")
    keys_off = models.BooleanField(default=False)
    # One mail a day, and only when something waits.
    wants_digest = models.BooleanField(default=True)
    # Mails that come at once: a complaint, a card put before them, a commitment that is due.
    wants_alerts = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = PersonManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="person_email_once")]

    def __str__(self) -> str:
        return self.short_name

    @property
    def short_name(self) -> str:
        """What a signature shows: the given name, else the part of the address before the @."""
        return self.name or self.email.split("@")[0]

    def zone_in(self, project: Project | None = None) -> ZoneInfo:
        """The zone in which this person reads: their own, else that of the project in front of them, else UTC."""
        return ZoneInfo(self.timezone or (project.timezone if project else "UTC"))

    def get_full_name(self) -> str:
        return self.short_name

    def get_short_name(self) -> str:
        return self.short_name
