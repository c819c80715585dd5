"""What a day's pile is worth: `python -m benchmarks.pile_quality [--cards FILE] [--seed N]`.

Plays the mix of `benchmarks/routine_mix.py` through the real distillation in a scratch project and prints one line of
JSON: proposals per 100 routine sessions, and how many lie on the pile. `--cards` writes the pile as a file for a person
to judge: shuffled, without saying which session taught it, so that each card is judged by what stands on it.

A card is approvable as it stands when all of this holds: it is true by its quotes; the quotes say all of it; it is one
sentence that is understood without the session; somebody would use it next time; it is about the right one; type, date
and expiry are right.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import routine_mix
from benchmarks.server import data_folder

if TYPE_CHECKING:
    from memory.trial import Card


def main(arguments: Sequence[str]) -> int:
    """Prints the figures; 0 when routine stays below five proposals in a hundred sessions."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pile_quality", description=__doc__)
    parser.add_argument("--cards", type=Path, metavar="FILE", help="write the pile there, as cards to be judged")
    parser.add_argument("--seed", type=int, default=7, help="the order of the sessions and of the cards")
    options = parser.parse_args(arguments)
    sessions = routine_mix.mix(options.seed)
    with data_folder():
        from memory import trial
        from memory.distillers.local import LocalDistiller

        cards = trial.pile(sessions, LocalDistiller())
    teaching = {session["id"] for session in sessions if session["teaches"]}
    routine = len(sessions) - len(teaching)
    from_routine = sum(card.session not in teaching for card in cards)
    figures = {
        "sessions": len(sessions),
        "routine": routine,
        "pile": len(cards),
        "from_routine": from_routine,
        "per_100_routine": round(100 * from_routine / routine, 2),
        "silent_lessons": len(teaching - {card.session for card in cards}),
    }
    print(json.dumps(figures))
    if options.cards:
        options.cards.write_text(as_cards(cards, options.seed), "utf-8")
    return 0 if figures["per_100_routine"] <= 5 else 1


def as_cards(cards: Sequence[Card], seed: int) -> str:
    """The pile as text, in an order that says nothing of the sessions."""
    shuffled = list(cards)
    random.Random(seed).shuffle(shuffled)
    return "\n".join(_as_text(number, card) for number, card in enumerate(shuffled, start=1))


def _as_text(number: int, card: Card) -> str:
    kind = card.about.partition(":")[0]
    ends = f", until {card.expires_at:%Y-%m-%d %H:%M}" if card.expires_at else ""
    due = card.value.get("due", "") if isinstance(card.value, dict) else ""
    lines = [f"card {number}: {card.type} about the {kind}{ends}{f', due {due}' if due else ''}", f"  {card.text}"]
    for role, before, quote, after in card.quotes:
        lines += [f"    before: {before}", f"    {role} > {quote}", f"    after: {after}"]
    return "\n".join([*lines, "  approvable? ", ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
