"""Import and export: existing memories in, shown as one list, approved together; any view of the memories out."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from memory import memories_in, memories_out, rendering, short_ids
from memory.existing import FIELDS, Found, Unreadable, read
from memory.models import BadSubject, Session, SessionKind
from projects import audit
from projects.models import Membership, Role
from projects.words import later
from review import imports
from review.pages.access import membership_in, project_page
from review.pages.memory_bulk import ticked
from review.pages.memory_filters import viewed

LARGEST_UPLOAD = 2_000_000
SHOWN = 500
# An answer is made whole, in the transaction that may see it; larger ones are the command's.
MOST_EXPORTED = 50_000
FIELD_WORDS = {
    "text": later("The sentence"),
    "type": later("Its type"),
    "key": later("Its key"),
    "subject": later("Whom it is about"),
    "expires_at": later("Its end"),
}


class Upload(forms.Form):
    """A file, or the text of one that was sent before; what its columns mean; whom it is about."""

    file = forms.FileField(label=later("File"), required=False)
    name = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)
    content = forms.CharField(required=False, max_length=LARGEST_UPLOAD, widget=forms.HiddenInput, strip=False)
    about = forms.CharField(
        label=later("About"),
        required=False,
        max_length=340,
        help_text=later(
            "Whom lines are about that name nobody: repo:orders-api; customers by a bare id. Empty: the project."
        ),
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        file = given.get("file")
        if file is not None:
            if file.size > LARGEST_UPLOAD:
                self.add_error(
                    "file", _("A file may have 2 MB here. Larger ones go in with manage.py import_memories.")
                )
            else:
                # It is shown again: no secret, nothing that nobody sees.
                given["name"], given["data"] = rendering.clean_line(file.name), file.read()
        elif given.get("content"):
            given["data"] = given["content"].encode("utf-8", "surrogatepass")
        else:
            self.add_error("file", _("Choose a file: CLAUDE.md, AGENTS.md, a CSV, an export."))
        return given


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.REVIEWER)
def transfer(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The form; a POST reads the file. A table whose columns are not told comes back with a question."""
    form = Upload(request.POST or None, request.FILES or None)
    if request.method != "POST":
        return _page(request, membership, Upload())
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    given = form.cleaned_data
    columns = {name: request.POST[f"column_{name}"] for name in FIELDS if request.POST.get(f"column_{name}")}
    try:
        found = read(given["name"] or "memories", given["data"], columns=columns or None)
    except Unreadable as problem:
        form.add_error("file", str(problem))
        return _page(request, membership, form, status=422)
    if found.format == "csv" and not columns:
        return _ask(request, membership, form, found)
    if not found.lines:
        form.add_error("file", _("No memory was found in this file. docs/existing-memories.md says what is read."))
        return _page(request, membership, form, status=422)
    try:
        brought = memories_in.bring_in(
            membership.project, found, person=membership.person, about=given["about"].strip(), now=timezone.now()
        )
    except BadSubject as problem:
        form.add_error("about", str(problem))
        return _page(request, membership, form, status=422)
    messages.success(request, f"{given['name'] or 'The file'}: {brought.words}.")
    if brought.session is None:
        return redirect("review:transfer", membership.project.slug)
    return redirect("review:imported", short_ids.encode(brought.session.pk, "s"))


def _page(request: HttpRequest, membership: Membership, form: Upload, status: int = 200) -> HttpResponse:
    done = Session.objects.filter(project=membership.project, kind=SessionKind.IMPORT)
    context = {
        "section": "settings",
        "subsection": "transfer",
        "form": form,
        "done": list(done.order_by("-last_seen_at", "-pk")[:10]),
        "formats": memories_out.FORMATS,
    }
    return render(request, "review/transfer.html", context, status=status)


def _ask(request: HttpRequest, membership: Membership, form: Upload, found: Found) -> HttpResponse:
    """Which column is what: guessed, with the first rows to look at. The file travels with the form."""
    context = {
        "section": "settings",
        "subsection": "transfer",
        "name": form.cleaned_data["name"],
        "content": form.cleaned_data["data"].decode("utf-8", "replace"),
        "about": form.cleaned_data["about"],
        "found": found,
        "fields": [(name, FIELD_WORDS[name], found.guessed.get(name, "")) for name in FIELDS],
        "counts": memories_in.preview(membership.project, found) if found.lines else None,
    }
    return render(request, "review/transfer_columns.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def imported(request: HttpRequest, short_id: str) -> HttpResponse:
    """What one import proposed; a POST approves what is ticked."""
    pk = short_ids.decode(short_id, "s") or 0
    found = Session.objects.select_related("project", "agent").filter(pk=pk, kind=SessionKind.IMPORT).first()
    if found is None:
        raise Http404
    membership = membership_in(request, found.project_id)
    if request.method == "POST":
        if not membership.can_review:
            messages.error(request, _("Deciding needs the role of a reviewer."))
            return redirect("review:imported", short_id)
        chosen = dict(ticked(request.POST.getlist("fact")))
        done = imports.approve_together(found, membership.person, chosen, timezone.now())
        messages.success(request, done.words)
        return redirect("review:imported", short_id)
    lines = imports.lines_of(found)
    context = {
        "section": "settings",
        "subsection": "transfer",
        "session": found,
        "session_id": short_id,
        "together": [line for line in lines if not line.why][:SHOWN],
        "alone": [line for line in lines if line.why][:SHOWN],
        "together_count": sum(not line.why for line in lines),
        "alone_count": sum(bool(line.why) for line in lines),
        "can_review": membership.can_review,
        "project": found.project,
        "membership": membership,
    }
    return render(request, "review/imported.html", context)


@require_safe
@project_page(Role.VIEWER)
def export(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The memories of a view with its filters, as one file."""
    project, now = membership.project, timezone.now()
    wanted = request.GET.get("format", "jsonl")
    if wanted not in memories_out.FORMATS:
        raise Http404
    facts = viewed(request, membership, now).order_by("pk")
    if facts[: MOST_EXPORTED + 1].count() > MOST_EXPORTED:
        messages.error(request, _("More than 50,000 memories: filter them, or use manage.py export_memories."))
        return redirect("review:memory", project.slug)
    ids = list(facts.values_list("pk", flat=True))
    audit.record(
        "memories.export",
        membership.person,
        project_id=project.pk,
        object_kind="fact",
        object_ids=ids[:1000],
        count=len(ids),
        now=now,
    )
    answer = HttpResponse(
        "".join(memories_out.lines(project, facts, wanted)), content_type=memories_out.FORMATS[wanted]
    )
    name = f"{project.slug}-memories.{memories_out.ENDINGS[wanted]}"
    answer["Content-Disposition"] = f"attachment; filename={json.dumps(name)}"
    return answer
