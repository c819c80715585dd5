"""What a notice says: counts in words and a link. The one place where a mail or a webhook gets its words from.

Nothing of a memory, a subject or a person is read here, so nothing of them can be sent.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.models import Project
from review.models import Notice, NoticeKind

# What of a notice's counts may leave: numbers under these names, and no other key.
SENT = ("assigned", "complaints", "still_true", "waiting", "minutes", "due")


def subject(notice: Notice) -> str:
    """`Countersign: 14 cards wait`."""
    if notice.kind == NoticeKind.DIGEST:
        total = sum(line.get(name, 0) for line in lines(notice) for name in ("waiting", "still_true", "complaints"))
        return "Countersign: " + (
            ngettext("%(count)d card waits", "%(count)d cards wait", total) % {"count": total}
            if total
            else _("a card was put before you")
        )
    return f"Countersign: {_one(notice.kind, counts(notice))}"


def body(notice: Notice, slugs: dict[int, str]) -> str:
    """The whole mail. `slugs` holds the short name of each project by its id: it stands in the link alone."""
    if notice.kind != NoticeKind.DIGEST:
        said = [f"{_one(notice.kind, counts(notice))[:1].upper()}{_one(notice.kind, counts(notice))[1:]}.", ""]
        said.append(link(notice.kind, slugs.get(notice.project_id, "")))
    else:
        said = [_("This waits for you:"), ""]
        for line in lines(notice):
            said += [_line(line), link(notice.kind, slugs.get(line["project"], "")), ""]
    said += [
        "",
        _("Nothing is decided by opening a link. What it is about stands on the page, never in a mail."),
        _("No more of these: your name at the top right, then Profile."),
    ]
    return "\n".join(said) + "\n"


def message(notice: Notice, slug: str) -> dict[str, Any]:
    """What a webhook is sent, ready for JSON."""
    numbers = counts(notice) if notice.kind != NoticeKind.DIGEST else _numbers(next(iter(lines(notice)), {}))
    return {
        "id": f"notice-{notice.pk}",
        "kind": notice.kind,
        "counts": numbers,
        "link": link(notice.kind, slug),
        "at": notice.created_at.isoformat(),
    }


def lines(notice: Notice) -> list[dict[str, int]]:
    """The lines of a digest, one a project."""
    found = notice.counts.get("lines", [])
    return [{"project": int(line.get("project", 0)), **_numbers(line)} for line in found if isinstance(line, dict)]


def counts(notice: Notice) -> dict[str, int]:
    return _numbers(notice.counts)


def link(kind: str, slug: str) -> str:
    """The page to open, where nothing happens by itself. A slug holds small letters, digits and hyphens."""
    base = settings.PUBLIC_URL or "http://localhost:8000"
    return f"{base}/p/{slug}/memory" if kind == NoticeKind.DUE else f"{base}/p/{slug}/review"


def _numbers(found: dict[str, Any]) -> dict[str, int]:
    return {name: found[name] for name in SENT if type(found.get(name)) is int}


def _line(line: dict[str, int]) -> str:
    """`1 put before you, 2 complaints, 14 new: about 4 minutes`."""
    parts = [
        _("%(count)d put before you") % {"count": line["assigned"]} if line.get("assigned") else "",
        _complaints(line["complaints"]) if line.get("complaints") else "",
        _("%(count)d still true?") % {"count": line["still_true"]} if line.get("still_true") else "",
        ngettext("%(count)d proposal", "%(count)d proposals", line["waiting"]) % {"count": line["waiting"]}
        if line.get("waiting")
        else "",
    ]
    said = ", ".join(part for part in parts if part)
    minutes = line.get("minutes", 0)
    if not minutes:
        return said
    return f"{said}: {ngettext('about %(count)d minute', 'about %(count)d minutes', minutes) % {'count': minutes}}"


def _one(kind: str, numbers: dict[str, int]) -> str:
    if kind == NoticeKind.ASSIGNMENT:
        return _("a card was put before you")
    if kind == NoticeKind.COMPLAINT:
        count = numbers.get("complaints", 1)
        return ngettext(
            "agents complain about %(count)d memory in use", "agents complain about %(count)d memories in use", count
        ) % {"count": count}
    count = numbers.get("due", 1)
    return ngettext("%(count)d commitment is due today", "%(count)d commitments are due today", count) % {
        "count": count
    }


def _complaints(count: int) -> str:
    return ngettext("%(count)d complaint", "%(count)d complaints", count) % {"count": count}


def slugs_of(notice: Notice) -> dict[int, str]:
    """The short names that the links of this notice need. One query."""
    wanted = {notice.project_id, *(line["project"] for line in lines(notice))}
    return dict(Project.objects.filter(pk__in=wanted).values_list("pk", "slug"))
