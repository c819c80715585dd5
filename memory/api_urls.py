"""Where the agents' API is mounted. An address that is none answers in JSON, as everything here does."""

from __future__ import annotations

from django.urls import path, re_path

from memory.api import api
from memory.api_errors import not_found

# The root first: ninja's own answer to it is a page.
urlpatterns = [path("", not_found), path("", api.urls), re_path(r"^", not_found)]
