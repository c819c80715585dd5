"""What to look at twice on a card: where it comes from, what it says, and what keeps it from being approved.

Ranked, the gravest first, at most three. A flag about the source stands above the evidence, so that it is read first;
one about a word stands under it.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory import grounding
from memory.models import Evidence, Fact
from memory.transcript import Quote
from review.cards.flag import SOURCE, WORD, Flag, isolated
from review.cards.pieces import Piece, has_hidden, said, visible
from review.cards.proof import Proof
from review.cards.risk import Risk
from review.cards.suspect import suspects

SENTENCE_LIMIT = 240
MOST_FLAGS = 3


def underlined(text: str, missing: tuple[str, ...]) -> tuple[Piece, ...]:
    """The sentence in pieces; `("unsupported", word)` is a word that no quote holds."""
    if not missing:
        return tuple(visible(text))
    longest_first = "|".join(re.escape(word) for word in sorted(missing, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
    pieces: list[Piece] = []
    end = 0
    for found in pattern.finditer(text):
        pieces += visible(text[end : found.start()])
        pieces += visible(found.group(), "unsupported")
        end = found.end()
    return tuple(pieces + visible(text[end:]))


def unsupported(fact: Fact, evidence: list[Evidence], beside: str = "") -> tuple[str, ...]:
    """Words of the sentence that no quote holds, nor what its reader sees `beside` them."""
    quotes = [Quote(ref=row.pk, start=row.start, end=row.end, text=row.quote) for row in evidence]
    missing = grounding.unsupported_words(fact.text, quotes, beside) if quotes else ()
    # A single letter is the s of a genitive or the t of a negation, never a claim.
    return tuple(word for word in missing if len(word) > 1 or not word.isalpha())


def seen_beside(fact: Fact, proofs: tuple[Proof, ...]) -> str:
    """What a card shows beside the quotes: whom it is about, who proposed it, the turns they were said in, the command
    that was run."""
    turns = [turn for proof in proofs for stretch in proof.stretches for turn in stretch.turns]
    told = [said(turn.pieces) for turn in turns if turn.is_hit or turn.is_command]
    agent = fact.proposed_by_agent.slug if fact.proposed_by_agent is not None else ""
    return " ".join([fact.subject.words, fact.subject.entity_id, agent, *told])


def flags_of(
    fact: Fact,
    proofs: tuple[Proof, ...],
    missing: tuple[str, ...],
    risk: Risk | None = None,
    is_shut: bool = False,
) -> list[Flag]:
    """All flags of a card, the gravest first. `is_shut`: the quote is not opened yet, so nothing is said of what is in
    it. At most three queries, and only where the sentence names hosts."""
    flags = [
        *_source_flags(fact, proofs, is_shut, risk),
        *suspects(fact, proofs, risk),
        *_word_flags(fact, proofs, missing),
    ]
    return sorted(flags, key=lambda flag: flag.rank)


def _source_flags(fact: Fact, proofs: tuple[Proof, ...], is_shut: bool, risk: Risk | None) -> list[Flag]:
    flags: list[Flag] = []
    if any(proof.verdict == "mismatch" for proof in proofs):
        advice = _("It cannot be approved; reject it, or write it anew.")
        flags.append(Flag(_("The quote is not in its source."), advice, SOURCE, 0))
    if fact.valid_to is not None:
        advice = _("Approved, it becomes history; what is known stays.")
        flags.append(Flag(_("It was said before what is known."), advice, SOURCE, 60))
    hidden = sum(proof.hidden_count for proof in proofs)
    if hidden and not is_shut:
        finding = ngettext(
            "%(count)d hidden character, shown as a box.", "%(count)d hidden characters, shown as boxes.", hidden
        )
        advice = ngettext("A reader would not have seen it.", "A reader would not have seen them.", hidden)
        flags.append(Flag(finding % {"count": hidden}, advice, SOURCE, 20))
    # A standing memory rests on those it speaks for, which its card shows.
    if not proofs and fact.source != "manual" and not fact.standing:
        advice = _("An agent proposed it and showed nothing; ask yourself how it would know.")
        flags.append(Flag(_("No quote."), advice, SOURCE, 45))
    if risk is not None and "crosses" in risk.reasons:
        finding = _("Goes to every agent.") if fact.everyone else _("Goes to other agents.")
        flags.append(Flag(finding, _("What is known about a customer usually stays with one."), SOURCE, 40))
    return flags


def _word_flags(fact: Fact, proofs: tuple[Proof, ...], missing: tuple[str, ...]) -> list[Flag]:
    flags: list[Flag] = []
    if has_hidden(fact.text):
        flags.append(Flag(_("Hidden characters in the sentence."), _("Edit them out before you approve."), WORD, 5))
    sensitive = {
        "contact": _("contact data"),
        "payment": _("payment data"),
        "health": _("words about health"),
        "secret": _("a secret that was replaced"),
    }
    categories = dict.fromkeys(found.get("category", "") for found in fact.findings)
    if held := ", ".join(sensitive[category] for category in categories if category in sensitive):
        advice = _("Approve it only for the agents that need it.")
        flags.append(Flag(f"{held[0].upper()}{held[1:]}.", advice, WORD, 30))
    # Beside a quote that is not in its source no word needs a look of its own.
    if missing and proofs and not any(proof.verdict == "mismatch" for proof in proofs):
        flags.append(_missing(missing))
    if len(fact.text) > SENTENCE_LIMIT:
        finding = _("%(count)s characters.") % {"count": f"{len(fact.text):,}"}
        flags.append(Flag(finding, _("A memory is one sentence; shorten it."), WORD, 55))
    return flags


def _missing(missing: tuple[str, ...]) -> Flag:
    words = [isolated(word) for word in missing]
    named = {"words": "”, “".join(words[:3]), "more": len(words) - 3}
    if len(words) > 4:
        finding = _("“%(words)s” and %(more)d more words are in no quote.") % named
    else:
        rest = f", “{words[3]}”" if words[3:] else ""
        one = ngettext("“%(words)s”%(rest)s is in no quote.", "“%(words)s”%(rest)s are in no quote.", len(words))
        finding = one % {**named, "rest": rest}
    return Flag(finding, ngettext("Check it, or edit it out.", "Check them, or edit them out.", len(words)), WORD, 50)


def blocked_by(fact: Fact, proofs: tuple[Proof, ...]) -> str:
    """Why Approve is off, or ""."""
    if any(proof.verdict == "mismatch" for proof in proofs):
        return _("The evidence does not match its source.")
    if has_hidden(fact.text):
        return _("The sentence holds hidden characters.")
    return ""
