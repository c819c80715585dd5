"""What axe finds wrong with a page: contrast, names, order, roles."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"
# What it would gather besides the faults took as long again: paths to each element, style sheets anew, frames.
OPTIONS = "{resultTypes: ['violations'], selectors: false, preload: false, iframes: false}"
RUN = f"""axe.run(document, {OPTIONS}).then(({{violations}}) => violations.flatMap(({{id, nodes}}) =>
    nodes.map(({{html}}) => `${{id}}: ${{html.slice(0, 200)}}`)))"""


def faults(page: Page) -> list[str]:
    """One line per fault. The script goes in through the debugger, so the page's own policy stays as it is."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(RUN)
    return found
