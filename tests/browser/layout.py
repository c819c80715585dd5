"""Whether a page fits its window."""

from __future__ import annotations

from playwright.sync_api import Page

TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)
    .map((element) => element.outerHTML.slice(0, 100))"""


def too_wide(page: Page) -> list[str]:
    """The outermost elements that make the page scroll sideways."""
    found: list[str] = page.evaluate(TOO_WIDE)
    return found


def resize(page: Page, width: int, height: int) -> None:
    """Makes the window so large, and waits until the page has been drawn at that size."""
    if page.viewport_size != {"width": width, "height": height}:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
