"""How allauth is bent to the house: nobody signs up by themselves, every address comes by invitation."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address behind as many proxies as COUNTERSIGN_PROXIES trusts; a forged header counts for nothing."""
        hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
        if settings.PROXIES and len(hops) >= settings.PROXIES:
            return hops[-settings.PROXIES]
        return request.META.get("REMOTE_ADDR", "") or "unknown"
