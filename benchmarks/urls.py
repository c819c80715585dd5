"""The product's addresses and `GET /api/v1/bench/ping`: the least a call can cost on the same server."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import include, path
from ninja import NinjaAPI

hello = NinjaAPI(urls_namespace="bench", docs_url=None, openapi_url=None)


@hello.get("/ping")
def ping(request: HttpRequest) -> dict[str, str]:
    return {"hello": "world"}


urlpatterns = [path("api/v1/bench/", hello.urls), path("", include("config.urls"))]
