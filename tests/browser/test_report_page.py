"""The report in a real browser: quiet, offline, interactive, accessible at every width."""

import csv
import io
import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import report_studies as studies

from assay.reporting.html import render_page, write_document
from rotation import others_in_turns
from shared_folder import locked

pytestmark = pytest.mark.browser

STATES = (
    *("tune", "sly", "compare", "measure", "interrupted", "all_failed", "hostile", "single"),
    "progress",
)
CROWDS = {"many": (), "thousand": (1000,)}
"""Studies of many arms, with the arguments that make them."""
WIDTHS = (360, 900, 1600)


class Pages:
    """Pages of simulated studies, each rendered once in a run of the tests, when it is needed."""

    def __init__(self, folder):
        self._folder = folder

    def __truediv__(self, file):
        path = self._folder / file
        with locked(self._folder / f"{file}.lock"):
            if not path.exists():
                write_document(render_page(study_of(path.stem)), path)
        return path


def study_of(name):
    """Return the study of a page."""
    if name == "slow":
        return with_a_slow_launch()
    if name in CROWDS:
        return studies.crowd(*CROWDS[name])
    return getattr(studies, name)()


@pytest.fixture(scope="session")
def reports(run_folder):
    folder = run_folder / "reports"
    folder.mkdir(exist_ok=True)
    return Pages(folder)


def with_a_slow_launch():
    """Return a comparison with one launch of the baseline forty times as long as the others."""
    report = studies.compare()
    first = report.samples[0]
    longer = msgspec.structs.replace(first, metrics={"wall_s": 40 * first.metrics["wall_s"]})
    return replace(report, samples=(longer, *report.samples[1:]), conclusion=None)


@contextmanager
def opened(browser, path: Path, width=1200, **options):
    """Open page with its console messages and requests."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_timeout(150)
    try:
        yield page
    finally:
        context.close()


@pytest.mark.parametrize("name", others_in_turns(*STATES, *CROWDS, "slow"))
def test_page_loads_silently_without_network_requests(browser, reports, name):
    path = reports / f"{name}.html"
    with opened(browser, path) as page:
        assert page.said == []
        assert page.asked == [path.as_uri()]


@pytest.mark.rotating
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["tune", "hostile", "compare", "all_failed"])
def test_page_never_scrolls_sideways(browser, reports, name, width, scripts):
    with opened(browser, reports / f"{name}.html", width, java_script_enabled=scripts) as page:
        if scripts:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        else:
            box = page.locator("main").bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width


BROKEN_WORDS = """[...document.querySelectorAll(".scroll td, .scroll th")].flatMap((cell) => {
  const broken = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const word of walker.currentNode.data.matchAll(/[\\w.%]+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
      if (word[0].length <= 24 && lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""


@pytest.mark.rotating
@pytest.mark.parametrize("width", [320, 380, 900])
@pytest.mark.parametrize("name", ["tune", "compare", "measure"])
def test_table_words_stay_whole_and_wide_tables_scroll(browser, reports, name, width):
    with opened(browser, reports / f"{name}.html", width) as page:
        assert page.evaluate(BROKEN_WORDS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(
            """[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth
            > e.clientWidth && getComputedStyle(e).overflowX === "auto").length"""
        )
        assert wide > 0 or width > 400


WIDE_TABLES = """[...document.querySelectorAll("main table")].map((table) => {
  const box = table.closest(".scroll"), edge = box.parentElement.getBoundingClientRect().right;
  const hint = box.nextElementSibling;
  box.scrollLeft = 1e6;
  const cells = [...table.rows].map((row) => row.cells[row.cells.length - 1]);
  return {
    wide: box.scrollWidth > box.clientWidth + 1,
    reached: cells.every((cell) => cell.getBoundingClientRect().right <= edge + 1),
    told: hint.className === "sideways" && !hint.hidden,
  };
})"""


@pytest.mark.parametrize("width", others_in_turns(390, 1280))
@pytest.mark.parametrize("name", others_in_turns("tune", "compare", "measure"))
def test_last_table_column_is_reachable_with_hint(browser, reports, name, width):
    with opened(browser, reports / f"{name}.html", width) as page:
        tables = page.evaluate(WIDE_TABLES)
        assert all(table["reached"] for table in tables)
        assert [table["told"] for table in tables] == [table["wide"] for table in tables]
        assert any(table["wide"] for table in tables)


@pytest.mark.parametrize("scheme", others_in_turns("light", "dark"))
@pytest.mark.parametrize("width", others_in_turns(380, 1200))
def test_figure_headings_are_not_crossed(browser, reports, width, scheme):
    """The last pixels of a heading's strip, below its text, have the colour of the page."""
    with opened(browser, reports / "tune.html", width, color_scheme=scheme) as page:
        shades = page.locator('[data-figure="gain"] canvas').evaluate(
            """(c) => {
              const scale = c.width / c.clientWidth, context = c.getContext("2d");
              const row = context.getImageData(0, Math.round(27 * scale), c.width, 1).data;
              const seen = new Set();
              for (let i = 0; i < row.length; i += 4) seen.add(row.slice(i, i + 4).join());
              return [...seen];
            }"""
        )
        ground = {"light": "255,255,255,255", "dark": "23,27,32,255"}[scheme]
        assert shades == [ground] or sorted(shades) == sorted([ground, "0,0,0,0"])


def test_outlier_is_shown_on_request(browser, reports):
    with opened(browser, reports / "slow.html") as page:
        for name in ("boxes", "convergence"):
            chart = page.locator(f'[data-figure="{name}"]')
            before = chart.locator("canvas").screenshot()
            chart.get_by_role("button", name="Show values outside the axis").click()
            assert chart.locator("canvas").screenshot() != before
    with opened(browser, reports / "compare.html") as page:
        assert page.get_by_role("button", name="Show values outside the axis").count() == 0


def test_compressed_data_are_read_sorted_and_saved(browser, reports):
    path = reports / "thousand.html"
    with opened(browser, path, accept_downloads=True) as page:
        block = page.locator("#assay-samples")
        assert block.get_attribute("data-encoding") == "gzip, base64"
        page.locator("#table-tools").wait_for()
        page.locator('#all th[data-key="median"]').get_by_role("button").click()
        for count in (400, 800, 1001):
            values = [float(v) for v in column(page, "median")]
            assert len(values) == count and values == sorted(values)
            further = page.get_by_role("button", name="Show 400 more")
            assert further.count() == (count < 1001)
            if count < 1001:
                further.click()
        _, text = download(page, "Save samples as JSON")
        assert len(json.loads(text)["samples"]) == len(studies.crowd(1000).samples)
        assert page.said == [] and page.asked[0] == path.as_uri()


def test_button_for_more_rows_says_how_many_of_all(browser, reports):
    with opened(browser, reports / "thousand.html") as page:
        chart = page.locator('[data-figure="boxes"]')
        before = chart.bounding_box()["height"]
        chart.get_by_role("button", name="Show the best 400 of 1,001", exact=True).click()
        assert chart.bounding_box()["height"] > 5 * before
    with opened(browser, reports / "tune.html") as page:
        chart = page.locator('[data-figure="boxes"]')
        assert chart.get_by_role("button", name="Show all 32", exact=True).count() == 1


def test_browser_without_decompression_keeps_static_page(browser, reports):
    context = browser.new_context()
    context.add_init_script("delete globalThis.DecompressionStream")
    page = context.new_page()
    page.goto((reports / "thousand.html").as_uri())
    assert page.locator('[data-figure="boxes"] svg:visible').count() == 1
    assert page.locator("#all tbody tr").count() == 400
    assert page.get_by_text("The first 400 of 1,001 arms").is_visible()
    assert page.get_by_role("button").count() == 0
    context.close()


def test_interactive_figures_replace_static_ones(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        for name in ("boxes", "gain", "convergence"):
            chart = page.locator(f'[data-figure="{name}"]')
            assert chart.locator("canvas").count() == 1
            assert not chart.locator("svg").first.is_visible()
            inked = chart.locator("canvas").evaluate(
                "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
            )
            assert inked > 50, name
            label = chart.locator(".canvas").get_attribute("aria-label")
            assert "wall time" in label


@pytest.mark.parametrize("width", others_in_turns(360, 1200))
def test_disabled_scripts_leave_static_figures_and_full_table(browser, reports, width):
    with opened(browser, reports / "tune.html", width, java_script_enabled=False) as page:
        for name in ("boxes", "gain", "convergence", "noise"):
            shown = page.locator(f'[data-figure="{name}"] svg:visible')
            assert shown.count() == 1
            assert shown.bounding_box()["width"] <= width
        assert page.locator("#all tbody tr").count() == 32
        assert not page.locator("#table-tools").is_visible()
        assert page.get_by_role("button").count() == 0


def test_hovered_row_is_highlighted(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        canvas = page.locator('[data-figure="boxes"] canvas')
        before = canvas.screenshot()
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 48)
        page.wait_for_timeout(300)
        assert canvas.screenshot() != before


def column(page, key):
    place = page.eval_on_selector_all(
        "#all thead th", "(heads, key) => heads.findIndex((h) => h.dataset.key === key)", key
    )
    return page.locator(f"#all tbody tr > *:nth-child({place + 1})").all_text_contents()


def test_table_sorts_by_mouse_and_keyboard(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        first = column(page, "name")
        head = page.locator('#all th[data-key="median"]')
        head.get_by_role("button").click()
        up = [float(v) for v in column(page, "median") if v]
        assert up == sorted(up) and head.get_attribute("aria-sort") == "ascending"
        assert column(page, "median")[-1] == ""
        head.get_by_role("button").press("Enter")
        down = [float(v) for v in column(page, "median") if v]
        assert down == sorted(up, reverse=True) and head.get_attribute("aria-sort") == "descending"
        assert column(page, "median")[-1] == ""
        head.get_by_role("button").press("Space")
        assert head.get_attribute("aria-sort") is None
        assert column(page, "name") == first


def test_table_filters_by_words_and_phase(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        field = page.get_by_role("searchbox")
        field.fill("malloc=jemalloc thp=never")
        names = column(page, "name")
        assert names and all("malloc=jemalloc" in n and "thp=never" in n for n in names)
        assert page.locator("#table-status").text_content() == f"{len(names)} of 32 rows shown."
        field.fill("")
        page.get_by_label("Phase").select_option("confirmation")
        assert column(page, "phase") == ["confirmation", "confirmation"]
        field.fill("no such thing")
        assert column(page, "name") == []


def test_filter_by_setting_matches_its_whole_value(browser, reports):
    with opened(browser, reports / "sweep.html") as page:
        field = page.get_by_role("searchbox")
        for words, count in (("ARG.jobs=1", 2), ("arg.jobs=16 malloc=jemalloc", 1), ("jobs", 5)):
            field.fill(words)
            assert len(column(page, "name")) == count, words
        field.fill("arg.jobs=")
        assert len(column(page, "name")) == 5
    with opened(browser, reports / "thousand.html") as page:
        page.get_by_role("button", name="Show 400 more").click()
        last = column(page, "name")[-1].split()[-1]
        page.get_by_role("searchbox").fill(last)
        names = column(page, "name")
        assert names and all(last in name.split() for name in names)


def download(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_shown_rows_are_saved_as_csv(browser, reports):
    report = studies.tune()
    with opened(browser, reports / "tune.html", accept_downloads=True) as page:
        page.get_by_label("Phase").select_option("confirmation")
        name, text = download(page, "Save 2 of 32 rows as CSV")
        assert name == "assay-s7f3a-configurations-2-of-32.csv"
        lines = list(csv.DictReader(io.StringIO(text)))
        assert [line["configuration"] for line in lines] == [a.name for a in report.conclusion.arms]
        assert {line["unit"] for line in lines} == {"s"}
        assert float(lines[1]["ratio"]) == report.conclusion.claims[0].ratio
        name, text = download(page, "Save 2 of 32 rows as JSON")
        assert name == "assay-s7f3a-configurations-2-of-32.json"
        rows = json.loads(text)["rows"]
        assert [r["median"] for r in rows] == [
            a.summary["wall_s"].median for a in report.conclusion.arms
        ]
        _, text = download(page, "Save samples as JSON")
        assert len(json.loads(text)["samples"]) == len(report.samples)
        _, text = download(page, "Save samples as CSV")
        walls = [float(line["wall_s"] or "nan") for line in csv.DictReader(io.StringIO(text))]
        assert walls[:3] == [s.metrics["wall_s"] for s in report.samples[:3]]


def test_all_rows_are_saved_with_their_disturbed_launches(browser, tmp_path):
    report = studies.compare()
    first, *others = report.conclusion.arms
    arms = (studies._with(first, disturbed_launches=3), *others)
    conclusion = studies._with(report.conclusion, arms=arms)
    path = tmp_path / "disturbed.html"
    write_document(render_page(replace(report, conclusion=conclusion)), path)
    with opened(browser, path, accept_downloads=True) as page:
        assert column(page, "disturbed")[0] == "3"
        name, text = download(page, "Save CSV")
        assert name.endswith("-configurations.csv")
        lines = list(csv.DictReader(io.StringIO(text)))
        assert [line["disturbed"] for line in lines] == ["3", *["0"] * len(others)]
        _, text = download(page, "Save JSON")
        assert [row["disturbed"] for row in json.loads(text)["rows"]] == [3, *[0] * len(others)]


def test_saved_hostile_names_are_not_formulas(browser, reports):
    with opened(browser, reports / "hostile.html", accept_downloads=True) as page:
        _, text = download(page, "Save CSV")
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert '\'=HYPERLINK("http://x")' in cells
        assert not any(cell.startswith(("=", "@")) for cell in cells)
        assert page.said == []


def test_script_is_copied_exactly(browser, reports):
    with opened(
        browser, reports / "tune.html", permissions=["clipboard-read", "clipboard-write"]
    ) as page:
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == studies.tune().script


def test_script_with_hidden_characters_has_no_copy_button(browser, reports):
    with opened(browser, reports / "sly.html") as page:
        assert "\\u202e# gnp.exe" in page.locator("#script-text").text_content()
        assert "invisible characters" in page.locator("#script").text_content()
        assert page.get_by_role("button", name="Copy").count() == 0


def test_color_scheme_follows_the_system(browser, reports):
    grounds = {}
    for scheme in ("light", "dark"):
        with opened(browser, reports / "tune.html", color_scheme=scheme) as page:
            grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            drawn = page.locator('[data-figure="gain"] canvas').screenshot()
            other = "dark" if scheme == "light" else "light"
            page.emulate_media(color_scheme=other)
            page.wait_for_timeout(300)
            assert page.locator('[data-figure="gain"] canvas').screenshot() != drawn
    assert grounds == {"light": "rgb(246, 247, 249)", "dark": "rgb(15, 18, 22)"}


def test_printed_page_has_static_figures_without_controls(browser, reports):
    with opened(browser, reports / "tune.html", color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.locator('[data-figure="boxes"] .static.wide').is_visible()
        assert not page.locator('[data-figure="boxes"] .canvas').is_visible()
        assert not page.locator("#table-tools").is_visible()
        ink = page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(26, 31, 38)"
        page.set_viewport_size({"width": 703, "height": 900})  # the width of A4 less its margins
        assert page.evaluate("document.documentElement.scrollWidth") <= 703
        cut = page.evaluate(
            """[...document.querySelectorAll(".scroll, pre")]
            .filter((e) => e.scrollHeight > e.clientHeight + 1).length"""
        )
        assert cut == 0


def test_further_arms_are_shown_on_request(browser, reports):
    with opened(browser, reports / "many.html") as page:
        chart = page.locator('[data-figure="boxes"]')
        few = chart.locator("canvas").bounding_box()["height"]
        chart.get_by_role("button").click()
        assert chart.locator("canvas").bounding_box()["height"] > 300 * 30 > 5 * few
        assert chart.get_by_role("button").get_attribute("aria-pressed") == "true"
        assert page.said == []


def test_search_is_shown_against_time(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        chart = page.locator('[data-figure="convergence"]')
        before = chart.locator("canvas").screenshot()
        chart.get_by_role("button", name="Against time").click()
        assert chart.locator("canvas").screenshot() != before


def test_controls_are_named_and_reachable_by_keyboard(browser, reports):
    with opened(browser, reports / "tune.html") as page:
        unnamed = page.evaluate(
            """[...document.querySelectorAll("button, select, input, [role=region], [role=img]")]
            .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label")
              || e.getAttribute("aria-labelledby") || e.labels?.length)).length"""
        )
        assert unnamed == 0
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Tab")
        ring = page.evaluate(
            """(() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.tagName, s.outlineStyle, parseFloat(s.outlineWidth)]; })()"""
        )
        assert ring[0] == "A" and ring[1] == "solid" and ring[2] >= 2
        scrolling = page.evaluate(
            """[...document.querySelectorAll(".scroll, pre")]
            .filter((e) => e.tabIndex !== 0).length"""
        )
        assert scrolling == 0


@pytest.mark.parametrize("scheme", others_in_turns("light", "dark"))
@pytest.mark.parametrize("width", others_in_turns(380, 1280))
def test_reported_values_switch_between_steps_and_seconds(browser, reports, width, scheme):
    path = reports / "progress.html"
    with opened(browser, path, width, color_scheme=scheme) as page:
        chart = page.locator('[data-figure="progress-0"]')
        before = chart.locator("canvas").screenshot()
        chart.get_by_role("button", name="Against time").click()
        assert chart.locator("canvas").screenshot() != before
        assert not chart.locator("svg").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.said == []
    with opened(browser, path, width, java_script_enabled=False) as page:
        assert page.locator('[data-figure="progress-0"] svg:visible').count() == 2
