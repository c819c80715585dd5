"""The pages people use. One word per idea: /p/{slug}/review, /facts/{id}/decisions."""

from __future__ import annotations

from django.urls import path

from review.pages import (
    alike_pages,
    brief_pages,
    decided_pages,
    decision_pages,
    desk_pages,
    draft_pages,
    fact_pages,
    held_pages,
    impact_pages,
    insight_pages,
    list_pages,
    memory_bulk,
    memory_pages,
    new_pages,
    saved_view_pages,
    scorecard_pages,
    session_pages,
    together_pages,
    transcript_pages,
    transfer_pages,
)
from review.pages.settings_urls import settings_patterns

app_name = "review"
urlpatterns = [
    path("p/<slug:slug>/review", desk_pages.pile, name="pile"),
    path("p/<slug:slug>/review/undo", decision_pages.undo_last, name="undo_last"),
    path("p/<slug:slug>/review/list", list_pages.decide_ticked, name="decide_ticked"),
    path("p/<slug:slug>/review/held", held_pages.held_back, name="held_back"),
    path("p/<slug:slug>/review/today", held_pages.today, name="decided_today"),
    path("p/<slug:slug>/review/more", held_pages.take_more, name="take_more"),
    path("p/<slug:slug>/review/decided", decided_pages.decided, name="decided"),
    path("p/<slug:slug>/memory", memory_pages.memory, name="memory"),
    path("p/<slug:slug>/memory/decisions", memory_bulk.decide, name="bulk"),
    path("p/<slug:slug>/views", saved_view_pages.save, name="views"),
    path("p/<slug:slug>/views/<int:pk>", saved_view_pages.rename, name="view_name"),
    path("p/<slug:slug>/views/<int:pk>/end", saved_view_pages.remove, name="view_end"),
    path("p/<slug:slug>/memory/new", new_pages.new, name="new_fact"),
    path("p/<slug:slug>/memory/filtered", scorecard_pages.filtered, name="filtered"),
    path("p/<slug:slug>/memory/export", transfer_pages.export, name="export"),
    path("p/<slug:slug>/transfer", transfer_pages.transfer, name="transfer"),
    path("imports/<str:short_id>", transfer_pages.imported, name="imported"),
    path("p/<slug:slug>/scorecard", scorecard_pages.score, name="scorecard"),
    path("facts/<str:short_id>", fact_pages.fact, name="fact"),
    path("facts/<str:short_id>/decisions", decision_pages.decide, name="decisions"),
    path("facts/<str:short_id>/alike", alike_pages.reject_alike, name="reject_alike"),
    path("facts/<str:short_id>/draft", draft_pages.draft, name="draft"),
    path("facts/<str:short_id>/impact", impact_pages.consequences, name="impact"),
    path("facts/<str:short_id>/assignment", together_pages.put_before, name="put_before"),
    path("facts/<str:short_id>/assignment/end", together_pages.take_back, name="take_back"),
    path("decisions/<int:pk>/undo", decision_pages.undo, name="undo"),
    path("p/<slug:slug>/sessions", session_pages.sessions, name="sessions"),
    path("sessions/<str:short_id>", transcript_pages.session, name="session"),
    path("sessions/<str:short_id>/distill", transcript_pages.distill, name="distill"),
    path("sessions/<str:short_id>/remember", new_pages.remember, name="remember"),
    path("p/<slug:slug>/briefs", brief_pages.briefs, name="briefs"),
    path("briefs/<str:short_id>", brief_pages.brief, name="brief"),
    path("p/<slug:slug>/insights", insight_pages.insights, name="insights"),
    *settings_patterns,
]
