"""Readings of sessions: how they ended, how often they were tried, what was asked of a provider."""

from __future__ import annotations

from itertools import pairwise

from memory.models import DistillJob, JobStatus, ModelCall, Session, SessionStatus
from tests.cases.expect.facts import facts_unique
from tests.cases.expect.registry import Look, figure
from tests.cases.provider import Asked, Provider

# Classes of error that say: the reply was no list of facts.
NO_FACTS = ("refus", "unusable", "unparse", "malformed", "no_json", "notjson", "badreply", "schema")


def job(look: Look) -> DistillJob:
    found = look.jobs()
    assert found, "nothing was read"
    return found[-1]


@figure("job_status", "status")
def job_status(look: Look) -> str:
    return job(look).status


@figure("distill_status")
def distill_status(look: Look) -> str:
    """`done_or_zero_facts`: read to its end, or at least nothing came of it."""
    is_fine = job(look).status == JobStatus.DONE or not look.facts()
    return "done_or_zero_facts" if is_fine else job(look).status


@figure("attempts")
def attempts(look: Look) -> int:
    return job(look).attempts


@figure("retries")
def retries(look: Look) -> int:
    return job(look).attempts - 1


@figure("error_recorded")
def error_recorded(look: Look) -> bool:
    return bool(job(look).error)


@figure("parse_error")
def parse_error(look: Look) -> bool:
    return bool(job(look).error)


@figure("reason")
def reason(look: Look) -> str:
    error = job(look).error
    return "refusal_or_unparseable" if any(one in error.casefold() for one in NO_FACTS) else error


@figure("distill_runs")
def distill_runs(look: Look) -> int:
    return sum(one.status in (JobStatus.DONE, JobStatus.PARTIAL) for one in look.jobs())


@figure("session_distilled")
def session_distilled(look: Look) -> bool:
    with look.stage.looking():
        read = Session.objects.filter(project=look.stage.project, status=SessionStatus.DISTILLED).count()
    return read == len(set(look.stage.captured))


@figure("new_sessions_created")
def new_sessions_created(look: Look) -> int:
    with look.stage.looking():
        return Session.objects.filter(project=look.stage.project).count() - len(set(look.stage.captured))


@figure("llm_calls")
def llm_calls(look: Look) -> int:
    """As many as the provider was asked; the product's own books must say the same."""
    with look.stage.looking():
        booked = ModelCall.objects.filter(project=look.stage.project, purpose="distill").count()
    asked = len(_asked(look))
    assert booked == asked, f"{asked} calls, {booked} in the books"
    return asked


@figure("chunks")
def chunks(look: Look) -> int:
    """Pieces that a long session was sent in."""
    return sum(one.status == 200 for one in _asked(look))


@figure("facts_deduplicated_across_chunks")
def deduplicated(look: Look) -> bool:
    return chunks(look) > 1 and len(look.facts()) == 1 and facts_unique(look)


@figure("prompt_length_constant")
def prompt_length_constant(look: Look) -> bool:
    """No call is longer than the first, and the one that shows the first its own reply."""
    lengths = [one.characters for one in _asked(look)]
    return max(lengths) <= max(lengths[:2])


@figure("backoff_is_exponential")
def backoff_is_exponential(look: Look) -> bool:
    """Each pause after a trouble is longer than the one before, by half at least, up to a last one that may be cut."""
    pauses = _pauses(look)
    grow = all(later >= earlier * 1.5 for earlier, later in pairwise(pauses[:-1]))
    return len(pauses) > 2 and grow and pauses[-1] >= pauses[0]


@figure("retry_after_header_respected")
def retry_after_respected(look: Look) -> bool:
    wait = _provider(look).retry_after
    return bool(_pauses(look)) and all(pause >= wait for pause in _pauses(look))


def _pauses(look: Look) -> list[float]:
    """Seconds between a call that was refused and the next one."""
    return [
        (later.at - earlier.at).total_seconds() for earlier, later in pairwise(_asked(look)) if earlier.status != 200
    ]


def _asked(look: Look) -> list[Asked]:
    return _provider(look).asked


def _provider(look: Look) -> Provider:
    assert isinstance(look.stage.provider, Provider), "no provider was asked"
    return look.stage.provider
