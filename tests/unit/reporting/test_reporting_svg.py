"""Static pictures: valid, small, reproducible, and themed."""

import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import report_studies as studies

from assay.reporting import svg
from assay.reporting.arms import arm_rows
from assay.reporting.figures import figures
from assay.reporting.pictures.rows import SEARCH_SHOWN, spread, visible
from assay.reporting.pictures.theme import DARK, LIGHT, page_style
from assay.reporting.trials import trials

DRAW = {
    "boxes": svg.box_svg,
    "gain": svg.gain_svg,
    "convergence": svg.convergence_svg,
    "noise": svg.noise_svg,
}


def pictures(report, width=svg.WIDE):
    shown = trials(report)
    found = figures(report, shown, arm_rows(report, shown))
    return {
        name: draw(getattr(found, name), width, name)
        for name, draw in DRAW.items()
        if getattr(found, name) is not None
    }


@pytest.fixture(scope="module")
def drawn():
    return pictures(studies.tune())


@pytest.fixture(scope="module")
def hostile():
    return pictures(studies.hostile()), pictures(studies.hostile(), svg.NARROW)


def texts(document):
    return [
        e.text or "" for e in ElementTree.fromstring(document).iter() if e.tag.endswith("}text")
    ]


def test_all_four_are_drawn_small(drawn):
    assert set(drawn) == set(DRAW)
    assert all(len(document) < 60_000 for document in drawn.values())


def test_same_data_same_bytes(drawn):
    assert pictures(studies.tune()) == drawn


def test_pictures_contain_text_and_numbers(drawn):
    words = " ".join(texts(drawn["boxes"]))
    assert "default" in words and "2.402 s" in words and "less is better" in words
    assert any("confirmation" in t for t in texts(drawn["convergence"]))


@pytest.mark.parametrize("name", ["boxes", "gain"])
def test_narrow_rows_hide_plot_lines_behind_labels(drawn, name):
    narrow = pictures(studies.tune(), svg.NARROW)[name]
    assert wide_panels(narrow) > wide_panels(drawn[name])


def wide_panels(document):
    """Return the number of filled panels that are at least 300 pixels wide."""
    paths = re.findall(r'<path d="([^"]*)"[^>]*class="f-panel"', document)
    xs = ([float(x) for x in re.findall(r"[ML] ?([-0-9.]+)", path)] for path in paths)
    return sum(max(x) - min(x) >= 300 for x in xs if x)


def test_pictures_have_title_and_description(drawn):
    for name, document in drawn.items():
        root = ElementTree.fromstring(document)
        assert root.get("role") == "img"
        title, words = (root.find(f"{{http://www.w3.org/2000/svg}}{t}") for t in ("title", "desc"))
        assert title.text and words.text
        assert root.get("aria-labelledby") == f"{name}-title {name}-words"


def test_pictures_contain_classes_instead_of_colours(drawn):
    for document in drawn.values():
        assert "style=" not in document and "<style" not in document
        assert not re.search(r"#[0-9a-fA-F]{6}\b", document)
        assert not re.search(r'(fill|stroke)="(?!none)', document)


def test_ids_are_used_and_prefixed(drawn):
    for name, document in drawn.items():
        identifiers = re.findall(r'\bid="([^"]+)"', document)
        assert len(set(identifiers)) == len(identifiers)
        for identifier in identifiers:
            assert identifier.startswith(f"{name}-")
            assert document.count(identifier) > 1


def test_pictures_fetch_nothing(drawn):
    for document in drawn.values():
        links = re.findall(r'href="([^"]*)"', document)
        assert all(link.startswith("#") for link in links)
        assert set(re.findall(r"https?://[^\"' <]+", document)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
        }


def test_hostile_names_are_text(hostile):
    for found in hostile:
        for document in found.values():
            root = ElementTree.fromstring(document)
            tags = {e.tag.rpartition("}")[2] for e in root.iter()}
            assert tags <= {
                "svg",
                "g",
                "path",
                "text",
                "tspan",
                "use",
                "defs",
                "clipPath",
                "rect",
                "title",
                "desc",
            }
            assert "\x1b" not in document and "\u202e" not in document
    assert any("$\\frac{1}{2$" in t for t in texts(hostile[0]["boxes"]))


def test_standalone_file_has_both_themes(drawn):
    document = svg.standalone(drawn["gain"])
    ElementTree.fromstring(document.encode())
    assert LIGHT["winner"] in document and DARK["winner"] in document
    assert "prefers-color-scheme:dark" in document


def test_roles_have_unique_colours_in_both_themes():
    assert LIGHT.keys() == DARK.keys()
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert all(f"--{role.replace('_', '-')}:" in page_style() for role in LIGHT)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(palette):
    for ground in ("panel", "page", "band"):
        for words in ("ink", "muted", "bad", "good", "warn", "winner"):
            assert contrast(palette[words], palette[ground]) >= 4.5, (words, ground)
    for shape in ("other", "baseline", "winner", "bad"):
        assert contrast(palette[shape], palette["panel"]) >= 3.0, shape


def test_picture_shows_claims_and_best_of_search():
    report = studies.tune(144)
    shown = trials(report)
    boxes = figures(report, shown, arm_rows(report, shown)).boxes.boxes
    kept, hidden = visible(boxes)
    assert len(kept) + hidden == len(boxes)
    assert all(b in kept for b in boxes if b.phase.value == "confirmation")
    assert sum(b.phase.value == "search" and b.role.value == "other" for b in kept) == SEARCH_SHOWN
    assert any(f"{hidden} more arms" in t for t in texts(pictures(report)["boxes"]))


def test_matplotlib_is_imported_for_drawing_only():
    code = (
        "import sys, assay.reporting.html, assay.reporting.text; print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("width", "count"), [(svg.WIDE, 2), (svg.NARROW, 2 + 14)])
def test_lines_do_not_cross_headings(width, count):
    """A strip in the colour of the page behind each heading covers the line at no change.

    Narrow pictures have further strips behind the labels of their 14 rows.
    """
    document = pictures(studies.tune(), width)["gain"]
    height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', document)[1])
    elements = list(ElementTree.fromstring(document).iter())
    strips, lines = [], []
    for at, element in enumerate(elements):
        classes = element.get("class", "").split()
        ys = [float(y) for _, y in re.findall(r"[ML] (\S+) (\S+)", element.get("d", ""))]
        if "f-panel" in classes and len(ys) > 3 and max(ys) - min(ys) > 25:
            strips.append((at, min(ys), max(ys)))
        if "s-baseline" in classes and ys and max(ys) - min(ys) > height / 2:
            lines.append(at)
    assert len(lines) == 1 and len(strips) == count
    for heading in ("Confirmation:", "Search:"):
        at, words = next(
            (i, e) for i, e in enumerate(elements) if (e.text or "").startswith(heading)
        )
        y = float(words.get("y") or re.search(r"translate\(\S+ (\S+)\)", words.get("transform"))[1])
        assert any(lines[0] < i < at and low < y < high for i, low, high in strips)


def test_outliers_are_marked_at_edge():
    report = studies.tune()
    fifth = [s for s in report.samples if s.launch.arm == "default"][4]
    longer = studies._with(fifth, metrics={"wall_s": 60.0})
    far = replace(report, samples=tuple(longer if s is fifth else s for s in report.samples))
    before, after = pictures(report), pictures(far)
    for name in ("noise", "boxes", "convergence"):
        assert after[name].count("<use") > before[name].count("<use"), name
    assert "1 of them is outside the axis." in after["noise"]
    ticks = [t for t in texts(after["noise"]) if t.endswith("%")]
    assert ticks and all(abs(float(t[:-2].replace("\u2212", "-"))) < 60 for t in ticks)


@pytest.mark.rotating
def test_picture_of_many_launches_is_small():
    for name, document in pictures(studies.crowd(3000)).items():
        assert len(document) < 200_000, name


def test_spread_of_points_is_deterministic():
    places = [spread(i) for i in range(200)]
    assert places == [spread(i) for i in range(200)]
    assert all(-1 <= p <= 1 for p in places)
    assert len({round(p, 6) for p in places}) == 200


def test_wide_range_of_values_uses_logarithmic_axis():
    report = studies.compare(blocks=4)
    far = tuple(
        studies._with(s, metrics={"wall_s": s.metrics["wall_s"] * (300 if i % 3 == 1 else 1)})
        for i, s in enumerate(report.samples)
    )
    document = pictures(replace(report, samples=far, conclusion=None))["boxes"]
    assert {"1,000.0", "10,000.0", "100,000.0"} & set(texts(document))
