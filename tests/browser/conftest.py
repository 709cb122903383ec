"""Chromium, and the simulated studies of tests/golden as modules."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))


def chromium():
    for name in (os.environ.get("ASSAY_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and (found := shutil.which(name)):
            return found
    return None


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("chromium is not installed (apt-get install chromium, or set ASSAY_CHROMIUM)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=path, args=arguments)
        except playwright.Error as error:
            pytest.skip(f"chromium does not start here: {str(error).splitlines()[0]}")
        yield started
        started.close()
