"""Where a memory stopped on its way into a brief, in words, with the way to change it."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from memory import brief_text
from memory.why_not import STEPS, Gate, Verdict
from projects.models import Agent, Project
from review.templatetags import desk


@dataclass(frozen=True)
class Stopped:
    """One memory and the first reason why it is not in the brief. `address` and `label`: what changes that, if
    anything does."""

    verdict: Verdict
    reason: str
    sentence: str
    address: str = ""
    label: str = ""

    @property
    def score(self) -> str:
        """`.12`, or that nothing was scored."""
        score = self.verdict.score
        return _("not scored") if score is None else f"{score:.2f}".removeprefix("0")


def stopped(verdict: Verdict, agent: Agent, project: Project) -> Stopped:
    """The verdict in words."""
    reason = _reason(verdict, agent, project)
    step = verdict.step
    if verdict.gate == Gate.CAME:
        item = verdict.item
        sentence = _("It is in this brief, for %(tokens)d tokens.") % {"tokens": item.tokens if item else 0}
    elif step == 1:
        sentence = _("It stopped at the first of %(steps)d gates: %(reason)s.") % {"steps": STEPS, "reason": reason}
    else:
        sentence = _("Approved and in force. It stopped at gate %(step)d of %(steps)d: %(reason)s.") % {
            "step": step,
            "steps": STEPS,
            "reason": reason,
        }
    address, label = _way_out(verdict, project)
    return Stopped(verdict, reason, sentence, address, label)


def _reason(verdict: Verdict, agent: Agent, project: Project) -> str:
    fact, gate = verdict.fact, verdict.gate
    if gate == Gate.EXPIRED:
        return _("expired on %(day)s") % {"day": desk.day(fact.expires_at)} if fact.expires_at else _("expired")
    if gate == Gate.OTHER_AGENTS:
        names = [one.slug for one in project.agents.all() if one.pk in fact.agent_ids]
        return _("it goes to %(agents)s only") % {"agents": ", ".join(names) or _("an archived agent")}
    if gate == Gate.BELOW_FLOOR:
        score = verdict.score or 0.0
        return _("too far from the task (%(score).2f < %(floor).2f)") % {"score": score, "floor": verdict.floor}
    if gate == Gate.NO_ROOM:
        return _no_room(verdict)
    if gate == Gate.OTHER_SUBJECT:
        return _("it is about %(subject)s, who was not asked for") % {"subject": fact.subject.words}
    if gate == Gate.PAUSED:
        return _("briefs to %(agent)s are paused") % {"agent": agent.slug}
    return {
        Gate.WAITING: _("not approved yet"),
        Gate.REJECTED: _("it was rejected"),
        Gate.MERGED: _("it was merged into another memory"),
        Gate.LAPSED: _("nobody decided for too long"),
        Gate.WITHDRAWN: _("it was withdrawn"),
        Gate.REPLACED: _("another memory took its place"),
        Gate.FROZEN: _("its subject is frozen while a privacy request runs"),
        Gate.OWN_VALUE: _("%(agent)s has a value of its own instead") % {"agent": agent.slug},
        Gate.BEHIND: _("too many newer memories come first"),
        Gate.CAME: _("it is in this brief"),
    }[gate]


def _no_room(verdict: Verdict) -> str:
    """`did not fit (1,180 of 1,200 tokens taken, it needs 22)`."""
    figures = {
        "line": f"{verdict.line_tokens:,}",
        "tokens": f"{verdict.tokens:,}",
        "budget": f"{verdict.budget:,}",
        "most": f"{brief_text.longest_line(verdict.budget):,}",
    }
    if verdict.line_tokens > brief_text.longest_line(verdict.budget):
        return _("did not fit (one line may take %(most)s tokens, it needs %(line)s)") % figures
    if not verdict.tokens:
        return _("did not fit (it needs %(line)s tokens and its headings, of %(budget)s)") % figures
    return _("did not fit (%(tokens)s of %(budget)s tokens taken, it needs %(line)s)") % figures


def _way_out(verdict: Verdict, project: Project) -> tuple[str, str]:
    fact = verdict.fact
    page = reverse("review:fact", args=[fact.short_id])
    pile = f"{reverse('review:pile', args=[project.slug])}?card={fact.short_id}"
    return {
        Gate.WAITING: (pile, _("Decide it")),
        Gate.REJECTED: (page, _("Take it back")),
        Gate.WITHDRAWN: (page, _("Take it back")),
        Gate.LAPSED: (page, _("Take it back")),
        Gate.REPLACED: (page, _("What took its place")),
        Gate.MERGED: (page, _("See which")),
        Gate.EXPIRED: (f"{page}?panel=edit", _("Let it live longer")),
        Gate.OTHER_AGENTS: (f"{page}?panel=scope", _("Change who sees it")),
        Gate.PAUSED: (reverse("review:agents", args=[project.slug]), _("Resume")),
        Gate.OWN_VALUE: (page, _("See who gets it")),
        Gate.BELOW_FLOOR: ("#task", _("Say the task in its words")),
        Gate.NO_ROOM: ("#tokens", _("Give the brief more tokens")),
    }.get(verdict.gate, ("", ""))
