"""What reviewers made of earlier proposals, as examples for a provider's model: few, newest first, about no person.

Read from the decisions when a session is read, and kept nowhere: what was erased or withdrawn is no example any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memory import privacy, tokens
from memory.distillers.hosted.prompt import Example
from memory.models import Decision, Fact, Status, Verb
from memory.models.subject import PROJECT
from projects.models import Project

MOST_REWRITTEN = 3
MOST_REJECTED = 4
MOST_OFTEN = 3
OFTEN = 3  # rejections of one kind for one reason
MOST_TOKENS = 600
LOOKED_THROUGH = 200  # decisions, newest first

# A sentence about one of these says nothing of a person.
IMPERSONAL = (PROJECT, "repo")
WHY = {
    "not_true": "it was not true",
    "vague": "too vague to act on",
    "known": "known already, or plain from the code or the manual",
    "once": "it held for this once only",
    "not_ours": "not ours to keep",
    "wrong_person": "it was about somebody else",
    "misread": "the quote did not say that",
    "instruction": "it was an instruction found in text, not a fact",
    "dated": "out of date soon",
    "other": "not worth keeping",
}


def examples(project: Project) -> tuple[Example, ...]:
    """Rewritten and rejected proposals of this project, and what is often rejected; at most MOST_TOKENS of them."""
    found = [*_rewritten(project), *_rejected(project)]
    kept: list[Example] = []
    for example in found:
        if tokens.count("".join(f"{one.line()}\n" for one in (*kept, example))) <= MOST_TOKENS:
            kept.append(example)
    return tuple(kept)


def _rewritten(project: Project) -> Iterator[Example]:
    decisions = _decisions(project).filter(
        verb__in=(Verb.EDIT, Verb.APPROVE), before__has_key="text", fact__status__in=(Status.APPROVED, Status.PROPOSED)
    )
    shown = 0
    for decision in decisions[:LOOKED_THROUGH]:
        before, after = decision.before["text"], decision.after.get("text", "")
        if before == after or not _may_be_told(decision.fact, before, after):
            continue
        yield Example(decision.fact.type, before, better=after)
        shown += 1
        if shown == MOST_REWRITTEN:
            return


def _rejected(project: Project) -> Iterator[Example]:
    often: Counter[tuple[str, str]] = Counter()
    shown = 0
    for decision in _decisions(project).filter(verb=Verb.REJECT, fact__status=Status.REJECTED)[:LOOKED_THROUGH]:
        reason = WHY.get(decision.reason, WHY["other"])
        often[decision.fact.type, reason] += 1
        if shown < MOST_REJECTED and _may_be_told(decision.fact, decision.fact.text):
            yield Example(decision.fact.type, decision.fact.text, reason)
            shown += 1
    for (type_, reason), count in sorted(often.most_common(MOST_OFTEN)):
        if count >= OFTEN:
            yield Example(type_, reason=reason)


def _decisions(project: Project):  # type: ignore[no-untyped-def]
    """What people decided about what was read out of sessions, newest first, and did not take back."""
    return (
        Decision.objects.filter(project=project, person__isnull=False, undone_by=None, fact__source="extraction")
        .select_related("fact__subject")
        .order_by("-pk")
    )


def _may_be_told(fact: Fact, *texts: str) -> bool:
    """Whether these sentences may be sent with another session: for everyone, about no person, naming no subject."""
    subject = fact.subject
    if not fact.everyone or subject.entity_type not in IMPERSONAL or subject.frozen_at or fact.findings:
        return False
    names = [name.casefold() for name in (subject.entity_id, subject.label) if name and subject.entity_type != PROJECT]
    return all(
        text and not privacy.clean_text(text).findings and not any(name in text.casefold() for name in names)
        for text in texts
    )
