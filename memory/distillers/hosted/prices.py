"""What a million tokens cost, in US dollars, as the providers listed it (values).

Standard rates without discounts for cached input, which we do not ask for: an upper bound. Prompts stay far below the
lengths from which some models cost more. Read off the providers' own model pages and price lists
(platform.claude.com/docs, developers.openai.com/api/docs/pricing) in November 2026; a model that is not here has no
known price, and its cost is shown as unknown, never as nothing.
"""

from __future__ import annotations

from decimal import Decimal

LISTED_ON = "2026-11"

# model: (input, output)
_PRICES = {
    "claude-haiku-5-5": ("0.10", "0.50"),
    "claude-sonnet-5-5": ("2", "10"),
    "claude-sonnet-5": ("2", "10"),
    "claude-opus-5-5": ("4", "20"),
    "claude-opus-5": ("5", "25"),
    "claude-haiku-4-5": ("1", "5"),
    "gpt-6-luna": ("0.10", "0.50"),
    "gpt-6.1-terra": ("1", "5"),
    "gpt-6-sol": ("2", "10"),
    "gpt-5.6-luna": ("0.20", "1.20"),
    "gpt-5.6-terra": ("2", "12"),
    "gpt-5.4-mini": ("0.75", "4.50"),
}
# The cheapest of each that takes structured output. Neither was measured by us: that needs a key.
DEFAULTS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-6-luna"}


def cost_usd(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """What a call cost at list price, or None for a model without a known price. A dated name is its model's."""
    listed = next((price for name, price in _PRICES.items() if model == name or model.startswith(f"{name}-20")), None)
    if listed is None:
        return None
    into, out = (Decimal(price) for price in listed)
    return ((into * input_tokens + out * output_tokens) / 1_000_000).quantize(Decimal("0.000001"))
