"""Cleaning rate on one core, over the texts of real transcripts: `python -m benchmarks.privacy_rate [FOLDER]`.

Reads every .json and .jsonl file below FOLDER (default ../shared/inputs) and takes each string of 20 characters and
more; `long` are those of 200 and more, the size of a tool's output. Prints one JSON line.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.privacy import clean_text

INPUTS = Path(__file__).resolve().parents[2] / "shared" / "inputs"
REPEATS = 5
LONG = 200


def texts_below(folder: Path) -> list[str]:
    """Every string of 20 characters and more in the JSON files below the folder."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.json*")):
        content = path.read_text("utf-8", "replace")
        documents = content.split("\n") if path.suffix == ".jsonl" else [content]
        for document in documents:
            try:
                found += [text for text in _strings(json.loads(document)) if len(text) >= 20]
            except ValueError:
                continue  # cut lines and files that are no JSON are part of the samples
    return found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _rate(texts: list[str]) -> dict[str, int | float]:
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        for text in texts:
            clean_text(text)
        seconds.append(time.process_time() - started)
    characters = [len(text) for text in texts]
    return {
        "texts": len(texts),
        "mean_characters": round(statistics.mean(characters)),
        "texts_per_second": round(len(texts) / min(seconds)),
        "megabytes_per_second": round(sum(characters) / min(seconds) / 1e6, 2),
    }


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else INPUTS
    texts = texts_below(folder)
    if not texts:
        print(f"No JSON texts below {folder}; name a folder of transcripts.", file=sys.stderr)
        return 1
    long = [text for text in texts if len(text) >= LONG]
    flagged = Counter(finding.category for text in texts for finding in clean_text(text).findings)
    report = {"job": "privacy_rate", "all": _rate(texts), "findings": dict(sorted(flagged.items()))}
    if long:
        report["long"] = _rate(long)
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
