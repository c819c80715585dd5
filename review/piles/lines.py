"""Today's pile as lines: what may be ticked and approved with others, and why the rest needs its own card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Substr
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Evidence, Fact, Relation, Status, quote_hash
from projects.models import Agent, Project
from review.cards.card import goes_to
from review.cards.flags import SENTENCE_LIMIT, unsupported
from review.cards.kinds import ANSWERABLE
from review.cards.pieces import MASKED, Piece, has_hidden, masked, visible
from review.cards.risk import Risk, risk_of, risks_of
from review.cards.served_value import unsaid
from review.cards.suspect import is_suspect
from review.deciding.policy import Level, Policy
from review.piles import samples

QUOTE_SHOWN = 160
# Reasons why lines stay that the bar has room for.
NAMED = 2


@dataclass(frozen=True)
class Line:
    """One card of the pile as a line. `flag` says in a word why it cannot be ticked, "" where it can; `stays` says the
    same behind a number."""

    fact: Fact
    sentence: tuple[Piece, ...]
    quote: tuple[Piece, ...]
    goes_to: str
    flag: str = ""
    stays: str = ""

    @property
    def may_tick(self) -> bool:
        return not self.flag


def lines_of(project: Project, ids: Sequence[int], before: tuple[Fact, Sequence[Evidence]] | None = None) -> list[Line]:
    """The lines of these memories, in their order. Seven queries, however many they are. `before` is a line in front
    of them that is no row of any table, with its quotes, whose verdict is known to hold."""
    found = Fact.objects.filter(project=project, pk__in=ids).select_related("subject", "project", "related")
    facts = {fact.pk: fact for fact in samples.shown_all(found.defer("search"))}
    ordered = [facts[pk] for pk in ids if pk in facts]
    agents = tuple(Agent.objects.filter(project=project, archived_at__isnull=True).order_by("slug", "pk"))
    quotes = _quotes(list(facts))
    risks = risks_of(ordered)
    if before is not None:
        fact, rows = before
        for row in rows:
            row.there = row.quote  # type: ignore[attr-defined]
        ordered, quotes[fact.pk] = [fact, *ordered], list(rows)
        if (risk := risk_of(fact, rows, agents)) is not None:
            risks[fact.pk] = risk
    replacing = _replacing(ordered)
    policy = Policy.of(project)
    lines = []
    for fact in ordered:
        rows, risk = quotes[fact.pk], risks.get(fact.pk)
        flag, stays = _why_alone(fact, rows, risk, fact.pk in replacing, policy)
        # What is shut on its card is shut here.
        is_shut = risk is not None and risk.needs_opening
        sentence = masked(fact.text, fact.findings, MASKED) if is_shut else visible(fact.text)
        quoted = rows[0].quote if rows and not is_shut else ""
        shown = quoted if len(quoted) <= QUOTE_SHOWN else f"{quoted[:QUOTE_SHOWN]}…"
        lines.append(Line(fact, tuple(sentence), tuple(visible(shown)), goes_to(fact, agents), flag, stays))
    return lines


def staying(lines: Sequence[Line]) -> str:
    """`2 stay: 1 in conflict, 1 with personal data.`, "" when all can be ticked. The commonest reasons are named."""
    left = Counter(line.stays for line in lines if not line.may_tick)
    if not left:
        return ""
    count = left.total()
    named = left.most_common(NAMED)
    if len(left) > NAMED + 1:
        rest = count - sum(number for _words, number in named)
        named.append((ngettext("for another reason", "for other reasons", rest), rest))
    else:
        named = left.most_common()
    why = ", ".join(f"{number} {words}" for words, number in named)
    said = ngettext("%(count)d stays: %(why)s.", "%(count)d stay: %(why)s.", count)
    return said % {"count": count, "why": why}


def _quotes(ids: Sequence[int]) -> dict[int, list[Evidence]]:
    """The quotes behind each, with what stands in its source now: never the whole source, which may be long."""
    rows = Evidence.objects.filter(fact__in=ids).order_by("fact", "pk")
    there = rows.annotate(there=Substr("observation__text", F("start") + 1, F("end") - F("start")))
    quotes: dict[int, list[Evidence]] = defaultdict(list)
    for row in there:
        quotes[row.fact_id].append(row)
    return quotes


def _is_broken(row: Evidence) -> bool:
    """As `Evidence.verdict`, from the part of the source that was read along."""
    span = row.quote if row.observation_id is None else row.there  # type: ignore[attr-defined]
    return span != row.quote or quote_hash(span) != row.sha256


def _replacing(facts: Sequence[Fact]) -> set[int]:
    """Those whose approval would take the place of a live value of the same key. One query."""
    single = [fact for fact in facts if fact.status == Status.PROPOSED and fact.type_row.single_valued]
    if not single:
        return set()
    rivals: dict[tuple[int, str, str], list[Fact]] = defaultdict(list)
    live = Fact.objects.filter(
        project_id=single[0].project_id,
        subject__in={fact.subject_id for fact in single},
        type__in={fact.type for fact in single},
        key__in={fact.key for fact in single},
        status=Status.APPROVED,
    )
    for rival in live.only("subject_id", "type", "key", "everyone", "agent_ids"):
        rivals[rival.subject_id, rival.type, rival.key].append(rival)
    return {
        fact.pk
        for fact in single
        for rival in rivals[fact.subject_id, fact.type, fact.key]
        if rival.everyone == fact.everyone and (fact.everyone or set(rival.agent_ids) & set(fact.agent_ids))
    }


def _why_alone(
    fact: Fact, rows: Sequence[Evidence], risk: Risk | None, is_replacing: bool, policy: Policy
) -> tuple[str, str]:
    """(the flag, the same behind a number), both "" where it may be approved with others."""
    if fact.status != Status.PROPOSED:
        return _("Still true?"), _("to be confirmed")
    if any(_is_broken(row) for row in rows):
        return _("Not in its source"), _("not in its source")
    if has_hidden(fact.text):
        return _("Hidden characters"), _("with hidden characters")
    if risk is not None and risk.is_instruction:
        return _("An instruction"), _("with an instruction")
    if fact.findings or (risk is not None and risk.categories):
        return _("Personal data"), _("with personal data")
    if risk is not None:
        return _("Crosses agents"), _("going to other agents")
    if is_suspect(fact):
        return _("Look twice"), _("to be looked at twice")
    if fact.standing:
        return _("Standing brief"), _("speaking for others")
    if (beside := _beside(fact, is_replacing)) is not None:
        return beside
    return _words_alone(fact, rows, policy)


def _beside(fact: Fact, is_replacing: bool) -> tuple[str, str] | None:
    other = fact.related if fact.related is not None and fact.related.status in ANSWERABLE else None
    if other is not None and fact.relation == Relation.CONFLICTS:
        return _("In conflict"), _("in conflict")
    if other is not None and fact.relation == Relation.SAME_THING:
        return _("Perhaps known"), _("perhaps known")
    if is_replacing or (other is not None and fact.relation == Relation.CHANGES and other.status == Status.APPROVED):
        return _("Replaces another"), _("replacing another")
    return None


def _words_alone(fact: Fact, rows: Sequence[Evidence], policy: Policy) -> tuple[str, str]:
    if not rows and fact.source != "manual":
        return _("No quote"), _("without a quote")
    missing = unsupported(fact, list(rows), f"{fact.subject.words} {fact.subject.entity_id}")
    if any(char.isdigit() for word in missing for char in word):
        return _("Number in no quote"), _("with a number in no quote")
    if missing:
        return _("Word in no quote"), _("with a word in no quote")
    if unsaid(fact):
        return _("Holds more"), _("holding more than the sentence")
    if len(fact.text) > SENTENCE_LIMIT:
        return _("Long"), _("longer than a sentence")
    if policy.level(fact.type) == Level.ONE_BY_ONE:
        return _("Needs its card"), _("reviewed one by one")
    return "", ""
