"""Secrets that were captured: found by patterns of the runner's own, so it does not ask the product about itself."""

from __future__ import annotations

import re
from itertools import chain

from tests.cases.expect.registry import Look, check, figure
from tests.cases.ops.erasing import tables_with

SHAPES = tuple(
    re.compile(shape)
    for shape in (
        r"sk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_\w{20,}",
        r"glpat-[\w-]{16,}",
        r"xox[abprs]-[\w-]{10,}",
        r"AKIA[A-Z0-9]{16}",
        r"AIza[\w-]{30,}",
        r"[sr]k_(?:live|test)_\w{10,}",
        r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}",
        r"://[^\s:/@]+:([^\s@/]+)@",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s*([A-Za-z0-9+/=]+)",
        r"(?i)bearer\s+([\w.~+/-]{16,})",
        r"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key)[\"']?\s*[:=]\s*[\"']?([^\s\"',;]{6,})",
    )
)


def secrets_in(look: Look) -> list[str]:
    """The secrets in what the case captured, proposed or asked. At least one, or the runner cannot tell."""
    said = [one["text"] for result in look.of("capture") for one in result.step["observations"]]
    said += [str(result.step.get("value", "")) for result in look.of("propose", "create_fact")]
    found = [match[match.lastindex or 0] for text in said for shape in SHAPES for match in shape.finditer(text)]
    assert found, "this runner recognises no secret in what was captured"
    return list(dict.fromkeys(found))


@figure("raw_secret_in_database")
def raw_secret_in_database(look: Look) -> bool:
    held = {secret[:4]: tables for secret in secrets_in(look) if (tables := tables_with(secret))}
    assert not held, f"secrets beginning with {sorted(held)} stand in {sorted(set(chain.from_iterable(held.values())))}"
    return False


@figure("placeholder_kept")
def placeholder_kept(look: Look) -> bool:
    """Every observation that held a secret says that one was there."""
    secrets = secrets_in(look)
    sent = [one["text"] for result in look.of("capture") for one in result.step["observations"]]
    kept = [row.text for row in look.observations()]
    with_one = [mine for mine, theirs in zip(kept, sent, strict=True) if any(secret in theirs for secret in secrets)]
    return bool(with_one) and all("[secret: " in text for text in with_one)


@check("shape_kept")
def shape_kept(look: Look, wanted: list[str]) -> None:
    """What stood round the secrets is still there."""
    kept = "\n".join(row.text for row in look.observations())
    missing = [one for one in wanted if one not in kept]
    assert not missing, f"lost: {missing}"


@check("labels")
def labels(look: Look, wanted: list[str]) -> None:
    """What the classifier saw: its categories, or by the finer names of its rules."""
    notes = look.last("classify").notes
    assert sorted(wanted) in (notes["labels"], notes["rules"]), (
        f"{notes['labels']} by {notes['rules']}, wanted {wanted}"
    )
