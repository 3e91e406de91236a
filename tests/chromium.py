"""Headless Chromium for tests of pages: `browser` is a fixture, one for each module, and skips where there is none."""

from __future__ import annotations

import os
import shutil
import warnings

import pytest

FLAGS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-prefers-reduced-motion",
    "--window-size=1200,900",
)  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def path_of(*names):
    """The first of these programs that is there."""
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser that keeps what pages write to the console, without errors (an error of a page is a test's matter)."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary, driver = path_of(*BROWSERS), path_of("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no chromium and chromedriver; `apt-get install chromium chromium-driver` brings both")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    for flag in (*FLAGS, *root, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    started.set_page_load_timeout(60)
    yield started
    with warnings.catch_warnings():
        # Its pipes to chromedriver are closed by the garbage collector, which tells of it.
        warnings.simplefilter("ignore", ResourceWarning)
        started.quit()


def console(browser):
    """What the pages have written to the console since one last asked, and what was refused to load or run."""
    return [entry["message"] for entry in browser.get_log("browser")]


def style(browser, scheme="light", width=1200):
    """Sets the colour scheme that the reader prefers, and how wide the window is."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
