"""Numbers and money as people read them."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import gettext as _

from memory.spending import Spent
from projects.models.project import DistillerName

register = template.Library()


@register.filter
def number(value: int) -> str:
    """`12,345`."""
    return f"{value:,}"


@register.filter
def cost(spent: Spent) -> str:
    """`$1.24`, `$0.0004` where it is less than a cent, `unknown` for a model without a known price, or a part of it."""
    if spent.unpriced and not spent.cost:
        return "unknown cost" if spent.unpriced == spent.calls else _("$0 and an unknown part")
    places = 2 if spent.cost >= Decimal("0.01") or not spent.cost else 4
    least = "under $0.0001" if 0 < spent.cost < Decimal("0.0001") else f"${spent.cost:,.{places}f}"
    return (_("%(least)s and an unknown part") % {"least": least}) if spent.unpriced else least


@register.filter
def provider(name: str) -> str:
    """`Anthropic`, `OpenAI`, `the local reader`."""
    return {DistillerName.ANTHROPIC: "Anthropic", DistillerName.OPENAI: "OpenAI"}.get(
        name,  # type: ignore[call-overload]
        "the local reader",
    )
