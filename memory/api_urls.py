"""Where the agents' API is mounted. An address that is none answers in JSON, as everything here does."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from memory.api import api
from memory.api_errors import in_json, not_found

mounted = api.urls
for route in mounted[0]:
    if isinstance(route, URLPattern):
        route.callback = in_json(route.callback)

# The root first: ninja's own answer to it is a page.
urlpatterns = [path("", not_found), path("", mounted), re_path(r"^", not_found)]
