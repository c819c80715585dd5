"""Signing in and out, and a new password: the parts of allauth that people who were invited need. No sign-up page."""

from __future__ import annotations

from allauth.account import views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, re_path

from projects import first_visitor


def sign_in(request: HttpRequest) -> HttpResponse:
    """Nobody can sign in to an empty installation: its first visitor is welcomed instead."""
    return redirect("review:welcome") if first_visitor.is_empty() else views.login(request)


urlpatterns = [
    path("sign-in", sign_in, name="account_login"),
    path("sign-out", views.logout, name="account_logout"),
    path("password", views.password_change, name="account_change_password"),
    path("password/reset", views.password_reset, name="account_reset_password"),
    path("password/reset/sent", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done",
        views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path("account/inactive", views.account_inactive, name="account_inactive"),
]
