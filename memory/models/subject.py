from __future__ import annotations

import functools
import hashlib
import hmac
import unicodedata
from collections.abc import Iterable

from django.conf import settings
from django.db import models

from memory.privacy import holds_invisible, secrets
from projects.models import Project
from projects.prepared import run

PROJECT = "project"
# A bare id means a customer: that is what most callers have at hand.
DEFAULT_ENTITY_TYPE = "customer"
MAX_LENGTH = 300
UNFIT = "A subject cannot hold a secret."


class BadSubject(ValueError):
    """A subject that cannot be told apart safely (empty, too long, with invisible characters), or that is a secret."""


def split(written: str) -> tuple[str, str]:
    """`customer:cust_123` → (`customer`, `cust_123`); a bare id means a customer. Raises BadSubject."""
    entity_type, colon, entity_id = written.partition(":")
    if not colon:
        entity_type, entity_id = DEFAULT_ENTITY_TYPE, written
    return checked(entity_type, entity_id)


def checked(entity_type: str, entity_id: str) -> tuple[str, str]:
    """Both halves as they are kept: NFC, trimmed, the type case-folded. Raises BadSubject."""
    kind = unicodedata.normalize("NFC", entity_type).strip().casefold()
    ident = unicodedata.normalize("NFC", entity_id).strip()
    if not kind or not ident:
        raise BadSubject("A subject needs a type and an id, such as customer:cust_123.")
    if len(kind) > 40 or len(ident) > MAX_LENGTH:
        raise BadSubject(f"A subject's type has at most 40 characters and its id at most {MAX_LENGTH}.")
    if holds_invisible(kind + ident) or not set("\n\t").isdisjoint(kind + ident):
        raise BadSubject("A subject's id must not contain invisible or control characters.")
    if _is_secret(entity_type):
        raise BadSubject(UNFIT)
    return kind, ident


@functools.lru_cache(maxsize=256)
def _is_secret(entity_type: str) -> bool:
    # As written: some kinds of secret are told by their capitals. A project has a few types, and asks for them often.
    return bool(secrets.find(entity_type))


def lookup_hmac(project_id: int, entity_type: str, entity_id: str) -> str:
    """What a subject is found by: keyed, so that no personal data stands in a unique index. 64 hex characters."""
    folded = unicodedata.normalize("NFC", entity_id.casefold())
    message = f"{project_id}\x1f{entity_type}\x1f{folded}".encode()
    return hmac.new(settings.LOOKUP_KEY, message, hashlib.sha256).hexdigest()


_HOLD = "SELECT id FROM memory_subject WHERE id = ANY (%(subjects)s::bigint[]) ORDER BY id FOR NO KEY UPDATE"


class SubjectQuerySet(models.QuerySet["Subject"]):
    def find(self, project_id: int, entity_type: str, entity_id: str) -> Subject | None:
        """The subject of these two halves (as `checked` gives them), or None."""
        return self.filter(project_id=project_id, lookup_hmac=lookup_hmac(project_id, entity_type, entity_id)).first()

    def find_all(self, project_id: int, named: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Subject]:
        """Those of these pairs of halves that are subjects already. One query."""
        hmacs = {halves: lookup_hmac(project_id, *halves) for halves in named}
        known = {one.lookup_hmac: one for one in self.filter(project_id=project_id, lookup_hmac__in=hmacs.values())}
        return {halves: known[told] for halves, told in hmacs.items() if told in known}

    def resolve(self, project_id: int, entity_type: str, entity_id: str) -> Subject:
        """The subject of these two halves, made on first sight. Two callers at once get the same row.

        Raises BadSubject, also for one that holds a secret: an id is shown, and stands in what agents read.
        """
        entity_type, entity_id = checked(entity_type, entity_id)
        found = self.find(project_id, entity_type, entity_id)
        if found is None:
            if secrets.find(entity_id):
                raise BadSubject(UNFIT)
            found, _ = self.get_or_create(
                project_id=project_id,
                lookup_hmac=lookup_hmac(project_id, entity_type, entity_id),
                defaults={"entity_type": entity_type, "entity_id": entity_id},
            )
        return found

    def hold(self, ids: Iterable[int]) -> None:
        """Locks these subjects to the end of the transaction, in one order: two that hold several never wait for each
        other in a circle. Whoever writes a fact holds its subject first."""
        # Held by itself in each decision, and planned once.
        run(self.db, _HOLD, {"subjects": sorted(set(ids))})

    def of_project(self, project: Project) -> Subject:
        """The project's own subject, for what holds everywhere in it."""
        return self.resolve(project.pk, PROJECT, project.slug)


class Subject(models.Model):
    """Whom or what memories are about. Personal data (an id, a label) until the person is erased."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="subjects")
    entity_type = models.CharField(max_length=40)
    entity_id = models.CharField(max_length=MAX_LENGTH)
    label = models.CharField(max_length=120, blank=True)
    link = models.URLField(max_length=500, blank=True)
    lookup_hmac = models.CharField(max_length=64)
    frozen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SubjectQuerySet.as_manager()

    class Meta:
        ordering = ["entity_type", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "lookup_hmac"], name="subject_once")]
        # Few: looked through as a list, never beside each fact.
        indexes = [models.Index(fields=["project"], condition=models.Q(frozen_at__isnull=False), name="subject_frozen")]

    def __str__(self) -> str:
        return f"{self.entity_type}:{self.entity_id}"

    @property
    def words(self) -> str:
        """How people read it: its label, else "the project", else its id."""
        if self.entity_type == PROJECT:
            return "the project"
        return self.label or self.entity_id
