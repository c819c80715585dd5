"""The settings of a project itself."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from projects import audit
from projects.models import Membership, Project, Role
from review.pages.access import project_page
from review.pages.settings_forms import ProjectSettings


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.OWNER)
def project_settings(request: HttpRequest, membership: Membership) -> HttpResponse:
    # A row of its own: a refused form has already written on it, and the frame shows the project's name.
    project = Project.objects.get(pk=membership.project_id)
    form = ProjectSettings(request.POST or None, instance=project)
    if request.method == "POST" and form.is_valid():
        project.save(update_fields=list(form.cleaned_data))
        audit.record(
            "project.change",
            membership.person,
            project_id=project.pk,
            object_kind="project",
            object_ids=[project.pk],
            now=timezone.now(),
        )
        messages.success(request, "Kept.")
        return redirect("review:settings", project.slug)
    status = 200 if request.method != "POST" else 422
    context = {"section": "settings", "subsection": "project", "form": form}
    return render(request, "review/settings.html", context, status=status)
