"""The system's Chromium, one for all tests of a process: Playwright starts once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Chromium draws its own toolbar as a page: that took as long as the page itself, for each window that nobody sees. The
# last list counts, so what Playwright switches off stands here too.
OFF = (
    *("InitialWebUI", "WebUIReloadButton", "WebUIReloadButtonPrewarmWebUI", "WebUIReloadButtonProfilePrewarming"),
    *("WebUISplitTabsButton", "WebUIHomeButton", "WebUIBackForwardButton", "WebUILocationBar", "WebUIToolbar"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"),
)
# As root there is no sandbox; the rest keeps it from calling home and from looking for a graphics card.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(OFF)}",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        sentence = "NOT RUN: no Chromium on this machine (Debian: apt-get install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    # Playwright leaves its loop running in this thread, and Django takes all that follows here for asynchronous.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
