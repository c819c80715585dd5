"""`python -m benchmarks [--quick] [--only JOB] [--json FILE]`: a line of JSON per job, a sentence for people."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import brief, distill, review
from benchmarks.server import data_folder

JOBS: dict[str, Callable[..., dict[str, object]]] = {"brief": brief.run, "distill": distill.run, "review": review.run}


def main(arguments: Sequence[str]) -> int:
    """0 when every job that ran reached what it must."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer facts, fewer calls")
    parser.add_argument("--only", action="append", choices=JOBS, metavar="JOB", help=f"one of: {', '.join(JOBS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the lines there as well")
    options = parser.parse_args(arguments)
    lines = []
    for name in options.only or JOBS:
        with data_folder():
            result = JOBS[name](quick=options.quick)
        verdict = "reached" if result["ok"] else "MISSED"
        unit = result.get("unit", "ms")
        print(
            f"{name}: {result['ours']} {unit}, {result['ratio']} times the floor of {result['floor']} {unit}"
            f" (must {result['must']}, {verdict})",
            file=sys.stderr,
        )
        lines.append(json.dumps(result))
        print(lines[-1], flush=True)
    if options.json:
        options.json.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0 if all(json.loads(line)["ok"] for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
