"""What somebody else did to a memory while a person had its card open, word by word (values for a page)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from memory.models import Decision, Fact
from projects.models import Agent
from review.cards.pieces import Piece
from review.cards.word_diff import diff
from review.deciding.decisions import REASON_WORDS, VERB_WORDS
from review.templatetags import desk

# Longer than that, the words that came in are read in the sentence itself.
QUOTED = 120


@dataclass(frozen=True)
class Changed:
    """One thing beside the sentence that is another now: `Lives until`, what stood there, what stands there."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Meanwhile:
    """Everything since the revision somebody saw. `last` is None only where nothing is known about it."""

    last: Decision | None
    who: str
    done: str
    reason: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    changed: tuple[Changed, ...]
    can_reopen: bool

    @property
    def words_changed(self) -> bool:
        return any(mark != "same" for mark, _text in (*self.before, *self.after))

    @property
    def lost_words(self) -> bool:
        """Whether the sentence that was seen says something that the one now does not."""
        return any(mark == "gone" for mark, _text in self.before)

    def without_words(self) -> Meanwhile:
        """The same where the sentence is not to be read yet: only that it was decided."""
        return replace(self, before=(), after=())

    @property
    def added(self) -> tuple[str, ...]:
        """The words that came in, where they are few enough to be named."""
        found = tuple(text.strip(" ,;") for mark, text in self.after if mark == "new" and text.strip(" ,;"))
        return found if sum(map(len, found)) <= QUOTED and not self.lost_words else ()


def since(fact: Fact, seen: int | None, agents: tuple[Agent, ...]) -> Meanwhile:
    """What happened to `fact` after revision `seen`; without one, its last step. One query."""
    steps = list(fact.decisions.select_related("person", "undone_by").order_by("-pk")[:50])
    after_it = [step for step in steps if seen is not None and step.revision_before >= seen] or steps[:1]
    was: dict[str, Any] = {}
    for step in after_it:  # the newest first, so that the oldest value wins
        was |= step.before
    last = after_it[0] if after_it else None
    before, after = diff(was.get("text") or fact.text, fact.text)
    return Meanwhile(
        last=last,
        who=last.person.short_name if last is not None and last.person is not None else _("The machine"),
        done=VERB_WORDS.get(last.verb, _("Changed")) if last is not None else "",
        reason=REASON_WORDS.get(last.reason, "") if last is not None else "",
        before=tuple(before),
        after=tuple(after),
        changed=tuple(_changed(fact, was, agents)),
        can_reopen=last is not None
        and last.verb not in ("propose", "create", "undo")
        and last.revision_after == fact.revision
        and not hasattr(last, "undone_by"),
    )


def _changed(fact: Fact, was: dict[str, Any], agents: tuple[Agent, ...]) -> list[Changed]:
    found = []
    if "expires_at" in was:
        seen = datetime.fromisoformat(was["expires_at"]) if was["expires_at"] else None
        found.append(Changed(_("Lives until"), _last_day(seen), _last_day(fact.expires_at)))
    if was.keys() & {"everyone", "agent_ids"}:
        everyone = was.get("everyone", fact.everyone)
        ids = was.get("agent_ids", fact.agent_ids)
        now = _scope(fact.everyone, fact.agent_ids, agents)
        found.append(Changed(_("Goes to"), _scope(everyone, ids, agents), now))
    for name, label in (("type", _("Type")), ("key", _("Key"))):
        if name in was and isinstance(was[name], str):
            found.append(Changed(label, was[name].replace("_", " "), getattr(fact, name).replace("_", " ")))
    return [one for one in found if one.before != one.after]


def _last_day(end: datetime | None) -> str:
    return _("no end") if end is None else desk.day(end - timedelta(seconds=1))


def _scope(everyone: bool, ids: list[int], agents: tuple[Agent, ...]) -> str:
    names = [agent.slug for agent in agents if agent.pk in ids]
    return _("everyone") if everyone else ", ".join(names) or _("an archived agent")
