"""Who stands behind a live memory, in words: a person who signed it, or the owner whose rule let it in."""

from __future__ import annotations

from django import template
from django.core.exceptions import ObjectDoesNotExist
from django.utils.translation import gettext as _

from memory.models import Fact
from review.models import Sample
from review.templatetags.desk import day

register = template.Library()


@register.filter
def signature(fact: Fact) -> str:
    """`Countersigned by Rita, 14 Nov`, or `On arrival, by Olga’s rule of 12 Nov`."""
    if fact.approved_by is not None:
        terms = {"name": fact.approved_by.short_name, "when": day(fact.approved_at)}
        return _("Countersigned by %(name)s, %(when)s") % terms
    return arrival(fact) or _("Countersigned, %(when)s") % {"when": day(fact.approved_at)}


@register.filter
def arrival(fact: Fact) -> str:
    """`On arrival, by Olga’s rule of 12 Nov`; "" for what a person approved. At most two queries, and none for what a
    person approved; lists join `sample__rule_by`."""
    let_in = _let_in(fact)
    if let_in is None:
        return ""
    return _("On arrival, by %(rule)s of %(day)s") % {"rule": _rule_of(let_in), "day": day(let_in.rule_since)}


@register.filter
def signer(fact: Fact) -> str:
    """As a line is signed, and in a list: `Rita`, `Olga’s rule`."""
    if fact.approved_by is not None:
        return fact.approved_by.short_name
    let_in = _let_in(fact)
    return _rule_of(let_in) if let_in is not None else _("somebody")


@register.filter
def signed_on(fact: Fact) -> str:
    """The day that goes with `signer`: of a rule the day when it began, of a memory that a person confirmed since then
    that day."""
    let_in = _let_in(fact)
    return day(let_in.rule_since) if let_in is not None else day(fact.confirmed_at or fact.approved_at)


@register.filter
def signed_label(fact: Fact) -> str:
    """What stands under that line."""
    return _("On arrival, since") if _let_in(fact) is not None else _("Countersigned")


@register.filter
def looked_at_words(fact: Fact) -> str:
    """Under the line of what came on arrival: `Looked at by Rita, 14 Nov`, or that nobody has."""
    let_in = _let_in(fact)
    if let_in is None:
        return _("Countersigned")
    if let_in.answered_by is not None:
        terms = {"name": let_in.answered_by.short_name, "when": day(let_in.answered_at)}
        return _("Looked at by %(name)s, %(when)s") % terms
    return _("Nobody has looked at it")


def _let_in(fact: Fact) -> Sample | None:
    if fact.approved_at is None or fact.approved_by_id is not None:
        return None
    try:
        return fact.sample
    except ObjectDoesNotExist:
        return None


def _rule_of(let_in: Sample) -> str:
    who = let_in.rule_by.short_name if let_in.rule_by is not None else _("an owner")
    return _("%(name)s’s rule") % {"name": who}
