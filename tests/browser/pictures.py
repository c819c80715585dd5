"""The pictures of docs/pictures, taken on the journeys' own installation: `make pictures`. No test of the suite."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import House, _python
from tests.browser.test_together import forgive_the_409, is_decision
from tests.config.processes import REPOSITORY

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.timeout(600)]

FOLDER = REPOSITORY / "docs" / "pictures"
COLOURS = 256

# The picture in a canvas, as its red, green, blue and alpha bytes.
PIXELS = """async (picture) => {
    const drawn = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob())
    const canvas = new OffscreenCanvas(drawn.width, drawn.height).getContext("2d")
    canvas.drawImage(drawn, 0, 0)
    const bytes = new Blob([canvas.getImageData(0, 0, drawn.width, drawn.height).data])
    const reader = new FileReader()
    const read = new Promise((ready) => { reader.onload = ready })
    reader.readAsDataURL(bytes)
    await read
    return [drawn.width, drawn.height, reader.result.split(",")[1]]
}"""


@dataclass(frozen=True)
class Picture:
    """One file: of which page, for whom, how wide; `then` does what is to be seen."""

    name: str
    address: str
    width: int = 1280
    theme: str = "light"
    whole: bool = False
    who: str = "rita"
    then: Callable[[House, Page], None] | None = None


def tick_three(house: House, page: Page) -> None:
    for line in (1, 2, 6):
        page.locator("tbody input[type=checkbox]").nth(line).check()
    expect(page.locator("[data-ticked]")).to_have_text("3 ticked")


def decide_all(house: House, page: Page) -> None:
    """To the end of the day: what holds, and every fifth rejected."""
    for number in range(60):
        card = page.locator("article.sheet")
        if not card.count():
            break
        shown = card.get_attribute("id")
        if number % 5 == 4:
            page.keyboard.press("x")
            page.keyboard.press("2")
        else:
            page.keyboard.press("a")
        expect(page.locator(f"#{shown}")).to_have_count(0)
    expect(page.locator("h1")).to_contain_text("Done.")


def come_second(house: House, page: Page) -> None:
    """Olga edits and approves while this page has the card open; then this page approves it as it stood."""
    card = (page.locator("article.sheet").get_attribute("id") or "").removeprefix("fact-")
    olga = house.browser_of("olga")
    olga.goto(f"{house.home}/p/lost/review?card={card}&panel=edit")
    olga.get_by_label("The sentence").fill("Write on line 1, mornings only.")
    with olga.expect_response(is_decision):
        olga.get_by_role("button", name="Save and approve").click()
    with page.expect_response(is_decision) as answer:
        page.keyboard.press("a")
    assert answer.value.status == 409
    expect(page.locator(".flag").first).to_contain_text("Olga decided this card")
    forgive_the_409(house)


def pictures(house: House) -> tuple[Picture, ...]:
    looks = house.looks
    kinds = ("changes", "conflict", "same", "standing", "still", "complaint", "cluster", "risky", "encoded")
    return (
        Picture("new", looks["promise"]),
        *(Picture(kind, looks[kind]) for kind in kinds),
        Picture("risky-open", looks["risky-open"]),
        Picture("arabic", looks["arabic"]),
        Picture("token", looks["token"]),
        Picture("new-phone", looks["promise"], width=390),
        Picture("changes-phone", looks["changes"], width=390, theme="dark"),
        Picture("lines-phone", looks["lines"], width=390),
        Picture("list", "/p/history/review?as=list"),
        Picture("list-phone", "/p/history/review?as=list", width=390),
        Picture("bulk", "/p/many/memory", then=tick_three),
        Picture("transcript", looks["talk"]),
        Picture("brief", looks["simulated"], whole=True),
        Picture("stop", looks["stop-withdraw"]),
        Picture("origin", looks["stop-origin"]),
        Picture("insights", "/p/history/insights", whole=True),
        Picture("practice", "/p/looks/practice?n=3"),
        Picture("conflict-dark", looks["conflict"], theme="dark"),
        Picture("taken", "/p/lost/review", then=come_second),
        Picture("done", "/p/history/review", then=decide_all),
    )


def in_colours(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(palette, place in it of each pixel). Kept are the colours that cover most, then of every other part of the
    colour space its commonest, so that a few red letters stay red; each colour that is left out is the nearest kept."""
    packed = pixels[..., 0].astype(np.int64) << 16 | pixels[..., 1].astype(np.int64) << 8 | pixels[..., 2]
    found, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    apart = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    by_count = np.argsort(-counts, kind="stable")
    _cells, firsts = np.unique(apart[by_count] >> 4, axis=0, return_index=True)
    chosen = dict.fromkeys([*by_count[: COLOURS // 2], *by_count[np.sort(firsts)], *by_count])
    kept = apart[list(chosen)[:COLOURS]]
    nearest = np.array([np.abs(kept - colour).sum(axis=1).argmin() for colour in apart], dtype=np.uint8)
    return kept.astype(np.uint8), nearest[places].reshape(packed.shape)


def small(picture: bytes, page: Page) -> bytes:
    """The same picture as a PNG of at most 256 colours, a third as large."""
    width, height, raw = page.evaluate(PIXELS, base64.b64encode(picture).decode())
    palette, places = in_colours(np.frombuffer(base64.b64decode(raw), np.uint8).reshape(height, width, 4))
    lines = b"".join(b"\0" + line.tobytes() for line in places)

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    body = part(b"IHDR", head) + part(b"PLTE", palette.tobytes()) + part(b"IDAT", zlib.compress(lines, 9))
    return b"\x89PNG\r\n\x1a\n" + body + part(b"IEND", b"")


def test_the_pictures_of_the_documents_are_taken(house: House, chromium: Browser) -> None:
    _python(house.up, "-m", "tests.browser.dressed")
    FOLDER.mkdir(exist_ok=True)
    empty = chromium.new_page()
    for picture in pictures(house):
        height = 800 if picture.width > 640 else 844
        page = house.browser_of(picture.who, theme=picture.theme, width=picture.width, height=height)
        page.goto(house.home + picture.address)
        if picture.then is not None:
            picture.then(house, page)
        page.wait_for_load_state("networkidle")
        taken = page.screenshot(full_page=picture.whole, animations="disabled")
        (FOLDER / f"{picture.name}.png").write_bytes(small(taken, empty))
        page.context.close()
    empty.close()
