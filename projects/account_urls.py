"""Signing in and out, and a new password: the parts of allauth that people who were invited need. No sign-up page."""

from __future__ import annotations

from allauth.account import views
from django.urls import path, re_path

urlpatterns = [
    path("sign-in", views.login, name="account_login"),
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
