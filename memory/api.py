"""The agents' API: one NinjaAPI under /api/v1/, its routers, its errors, its keys."""

from __future__ import annotations

from ninja import NinjaAPI

from memory import api_briefs, api_context, api_errors, api_facts, api_me, api_sessions
from memory.agent_auth import Bearer
from memory.api_body import BoundedParser

api = NinjaAPI(
    title="Countersign for agents",
    version="1",
    description="Send what happened, fetch what was approved. Every call carries `Authorization: Bearer cs_…`.",
    urls_namespace="agents",
    auth=Bearer(),
    # The interactive pages would load scripts from elsewhere; docs/api.md names every call.
    docs_url=None,
    openapi_url="/openapi.json",
    parser=BoundedParser(),
)
api_errors.install(api)
api.add_router("", api_me.router)
api.add_router("", api_sessions.router)
api.add_router("", api_context.router)
api.add_router("", api_briefs.router)
api.add_router("", api_facts.router)
