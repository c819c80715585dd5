"""Every address of the product. Project pages live in review/pages/urls.py, the agents' API in memory/api.py."""

from __future__ import annotations

from django.urls import include, path

from config import health

handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
# allauth looks for this one, where somebody signs in too often.
handler429 = "config.errors.too_often"

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("projects.account_urls")),
    path("api/v1/", include("memory.api_urls")),
    path("", include("review.pages.urls")),
]
