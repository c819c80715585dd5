"""The pages people use. One word per idea: /p/{slug}/review, /facts/{id}/decisions."""

from __future__ import annotations

from django.urls import path

from review.pages import (
    brief_pages,
    decision_pages,
    desk_pages,
    draft_pages,
    fact_pages,
    insight_pages,
    memory_pages,
    scorecard_pages,
    session_pages,
    transfer_pages,
)
from review.pages.settings_urls import settings_patterns

app_name = "review"
urlpatterns = [
    path("p/<slug:slug>/review", desk_pages.pile, name="pile"),
    path("p/<slug:slug>/review/undo", decision_pages.undo_last, name="undo_last"),
    path("p/<slug:slug>/memory", memory_pages.memory, name="memory"),
    path("p/<slug:slug>/memory/new", memory_pages.new, name="new_fact"),
    path("p/<slug:slug>/memory/filtered", scorecard_pages.filtered, name="filtered"),
    path("p/<slug:slug>/memory/export", transfer_pages.export, name="export"),
    path("p/<slug:slug>/transfer", transfer_pages.transfer, name="transfer"),
    path("imports/<str:short_id>", transfer_pages.imported, name="imported"),
    path("p/<slug:slug>/scorecard", scorecard_pages.score, name="scorecard"),
    path("facts/<str:short_id>", fact_pages.fact, name="fact"),
    path("facts/<str:short_id>/decisions", decision_pages.decide, name="decisions"),
    path("facts/<str:short_id>/draft", draft_pages.draft, name="draft"),
    path("decisions/<int:pk>/undo", decision_pages.undo, name="undo"),
    path("p/<slug:slug>/sessions", session_pages.sessions, name="sessions"),
    path("sessions/<str:short_id>", session_pages.session, name="session"),
    path("sessions/<str:short_id>/distill", session_pages.distill, name="distill"),
    path("p/<slug:slug>/briefs", brief_pages.briefs, name="briefs"),
    path("briefs/<str:short_id>", brief_pages.brief, name="brief"),
    path("p/<slug:slug>/insights", insight_pages.insights, name="insights"),
    *settings_patterns,
]
