"""Where the agents' API is mounted."""

from __future__ import annotations

urlpatterns: list = []
