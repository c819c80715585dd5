"""The pages people use. One word per idea: /p/{slug}/review, /facts/{id}/decisions."""

from __future__ import annotations

app_name = "review"
urlpatterns: list = []
