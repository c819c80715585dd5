"""The pages round the desk: home, the first visit, invitations, and the settings that hang under a project."""

from __future__ import annotations

from django.urls import path

from review.pages import (
    agent_pages,
    distiller_pages,
    health_pages,
    home_pages,
    people_pages,
    policy_pages,
    practice_pages,
    profile_pages,
    settings_pages,
    start_pages,
    type_pages,
)

settings_patterns = [
    path("", home_pages.home, name="home"),
    path("welcome", home_pages.welcome, name="welcome"),
    path("projects/new", home_pages.new_project, name="new_project"),
    path("profile", profile_pages.profile, name="profile"),
    path("profile/keys", profile_pages.keys_switch, name="keys_switch"),
    path("profile/sign-ins/others", profile_pages.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("profile/sign-ins/<int:pk>", profile_pages.sign_out_there, name="sign_out_there"),
    path("theme", home_pages.theme, name="theme"),
    path("health", health_pages.installation, name="installation_health"),
    path("invitation/<str:token>", people_pages.invitation, name="invitation"),
    path("p/<slug:slug>/start", start_pages.start, name="start"),
    path("p/<slug:slug>/people", people_pages.people, name="people"),
    path("p/<slug:slug>/invitations", people_pages.invite, name="invitations"),
    path("p/<slug:slug>/invitations/<int:pk>/withdrawal", people_pages.withdraw, name="withdrawal"),
    path("p/<slug:slug>/members/<int:pk>/role", people_pages.change_role, name="role"),
    path("p/<slug:slug>/members/<int:pk>/removal", people_pages.remove, name="member_removal"),
    path("p/<slug:slug>/agents", agent_pages.agents, name="agents"),
    path("p/<slug:slug>/agents/new", agent_pages.create, name="new_agent"),
    path("p/<slug:slug>/agents/<slug:agent>/pause", agent_pages.pause, name="agent_pause"),
    path("p/<slug:slug>/agents/<slug:agent>/archive", agent_pages.archive, name="agent_archive"),
    path("p/<slug:slug>/pause", agent_pages.pause_project, name="project_pause"),
    path("p/<slug:slug>/keys", agent_pages.issue, name="keys"),
    path("p/<slug:slug>/keys/<int:pk>/revocation", agent_pages.revoke, name="revocation"),
    path("p/<slug:slug>/settings", settings_pages.project_settings, name="settings"),
    path("p/<slug:slug>/types", type_pages.types, name="types"),
    path("p/<slug:slug>/types/<str:name>", type_pages.edit, name="type"),
    path("p/<slug:slug>/types/<str:name>/reset", type_pages.reset, name="type_reset"),
    path("p/<slug:slug>/policy", policy_pages.policy, name="policy"),
    path("p/<slug:slug>/policy/<str:name>/note", policy_pages.note, name="policy_note"),
    path("p/<slug:slug>/practice", practice_pages.page, name="practice"),
    path("p/<slug:slug>/distiller", distiller_pages.distiller, name="distiller"),
    path("p/<slug:slug>/spending", distiller_pages.spent, name="spending"),
    path("p/<slug:slug>/runs", distiller_pages.runs, name="runs"),
    path("p/<slug:slug>/runs/again", distiller_pages.run_all_again, name="runs_again"),
    path("p/<slug:slug>/runs/<int:pk>/again", distiller_pages.run_again, name="run_again"),
    path("p/<slug:slug>/health", health_pages.project_health, name="health"),
]
