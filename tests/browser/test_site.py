"""The documentation site in a real browser, with the network cut."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from rotation import others_in_turns
from shared_folder import locked

pytest.importorskip("mkdocs", reason="mkdocs is not installed")
pytest.importorskip("material", reason="mkdocs-material is not installed")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
RESOURCE = re.compile(
    r"""<(?:script|img|iframe)[^>]*\bsrc="?([^"\s>]+)|<link[^>]*\bhref="?([^"\s>]+)"""
)
PAGES = (
    *("index.html", "reference/verbs/tune.html", "reference/all-settings.html"),
    "tutorial/notebook.html",
)


@pytest.fixture(scope="session")
def site(run_folder):
    """Build the site once in a run of the tests; warnings are errors."""
    folder = run_folder / "site"
    with locked(run_folder / "site.lock"):
        if not folder.exists():
            built = subprocess.run(
                [sys.executable, "-m", "mkdocs", "build", "-d", folder],
                cwd=ROOT,
                env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
                capture_output=True,
                text=True,
            )
            assert built.returncode == 0, built.stderr
    return folder


@contextmanager
def offline(browser, **options):
    """Open a page without network; requests for anything but files are aborted and listed."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    page = context.new_page()
    page.errors, page.requested = [], []

    def abort(route):
        page.requested.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(("file:", "data:", "blob:")), abort)
    page.on("console", lambda m: m.type == "error" and page.errors.append(m.text))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    try:
        yield page
    finally:
        context.close()


@pytest.mark.parametrize("scheme", others_in_turns("light", "dark"))
def test_pages_open_without_network(browser, site, scheme):
    backgrounds = set()
    with offline(browser, color_scheme=scheme) as page:
        for name in PAGES:
            page.goto((site / name).as_uri())
            page.wait_for_load_state("load")
            assert page.locator("h1").is_visible()
            style = "getComputedStyle(document.body).backgroundColor"
            backgrounds.add(page.evaluate(style))
        assert page.requested == []
        assert page.errors == []
    (background,) = backgrounds
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_every_page_names_resources_of_the_site_only(site):
    for path in site.rglob("*.html"):
        for match in RESOURCE.finditer(path.read_text()):
            name = match[1] or match[2]
            if name.startswith("data:"):
                continue
            assert "//" not in name, f"{path.relative_to(site)}: {match[0]}"


def test_search_finds_a_generated_table(browser, site):
    with offline(browser) as page:
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("divide confine slots")
        result = page.locator(".md-search-result__link[href*='verbs/tune.html']").first
        result.wait_for(timeout=10_000)
        assert page.requested == []
        assert page.errors == []


def test_palette_toggles(browser, site):
    with offline(browser, color_scheme="light") as page:
        page.goto((site / "index.html").as_uri())
        page.click("label[title='Switch to the dark palette']")
        assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


@pytest.mark.parametrize("width", others_in_turns(360, 1280))
def test_no_page_scrolls_sideways(browser, site, width):
    with offline(browser) as page:
        page.set_viewport_size({"width": width, "height": 900})
        for name in PAGES:
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
