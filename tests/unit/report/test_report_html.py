"""The page: self-contained, safe with hostile text, whole in every state of a study."""

import base64
import hashlib
import itertools
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import report_studies as studies

from assay.errors import NotPossible
from assay.records import Granted, to_builtins
from assay.report.grants import tally
from assay.report.html import render, write
from assay.report.markup import Html, data_block, el, join

STATES = (
    "tune",
    "keep_default",
    "interrupted",
    "compare",
    "null",
    "measure",
    "single",
    "all_failed",
    "troubled",
    "hostile",
)


class Page(HTMLParser):
    """A page taken apart: elements, attributes, ids, scripts, and visible text."""

    def __init__(self, document):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.ids, self.scripts = [], [], [], []
        self.words, self.open, self.styles = [], [], []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attributes]
        self.ids += [value for key, value in attributes if key == "id"]
        if tag == "script":
            self.scripts.append((dict(attributes), []))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1].append(data)
        elif self.open and self.open[-1] == "style":
            self.styles.append(data)
        else:
            self.words.append(data)

    def data(self, identifier):
        body = next(b for a, b in self.scripts if a.get("id") == identifier)
        return json.loads("".join(body))

    @property
    def text(self):
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module")
def pages():
    return {name: render(getattr(studies, name)()) for name in STATES}


@pytest.fixture(scope="module")
def parsed(pages):
    return {name: Page(document) for name, document in pages.items()}


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("name", STATES)
def test_every_element_is_closed_and_every_id_is_one(parsed, name):
    page = parsed[name]
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    targets = {v[1:] for t, k, v in page.attributes if t == "a" and k == "href"}
    assert targets <= set(page.ids)


@pytest.mark.parametrize("name", STATES)
def test_the_policy_allows_what_is_inside_and_nothing_else(parsed, name):
    page = parsed[name]
    policy = next(v for t, k, v in page.attributes if k == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy and "http" not in policy
    code = ["".join(b) for a, b in page.scripts if "type" not in a]
    assert len(code) == 2
    for script in code:
        assert f"'sha256-{digest(script)}'" in policy
    assert f"style-src 'sha256-{digest(page.styles[0])}'" in policy


@pytest.mark.parametrize("name", STATES)
def test_nothing_comes_from_elsewhere(parsed, name):
    page = parsed[name]
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    for tag, key, value in page.attributes:
        assert key not in ("src", "srcset", "style", "action"), (tag, key, value)
        assert not key.startswith("on"), (tag, key, value)
        if key.endswith("href"):
            assert value.startswith("#")
    assert "@import" not in page.styles[0] and "url(" not in page.styles[0]


@pytest.mark.parametrize("name", STATES)
def test_headings_step_down_one_at_a_time(parsed, name):
    levels = [int(t[1]) for t in parsed[name].tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("name", STATES)
def test_header_cells_have_a_scope_and_tables_a_caption(parsed, name):
    page = parsed[name]
    scoped = sum(1 for t, k, _ in page.attributes if t == "th" and k == "scope")
    assert scoped == page.tags.count("th")
    assert page.tags.count("caption") == page.tags.count("table")


def test_hostile_text_is_text_everywhere(pages, parsed):
    document, page = pages["hostile"], parsed["hostile"]
    for tag in ("img", "b"):
        assert tag not in page.tags
    assert "<script>alert" not in document
    assert len(page.scripts) == 4
    assert "<img src=x onerror=alert(2)>" in page.text
    for raw in ("\x1b", "\x00", "\u202e", "\u2066", "\u2028"):
        assert raw not in document
    assert "\\x1b[31mred\\x1b[0m\\x00\\x07" in page.text
    document.encode("utf-8")


def test_a_slot_in_hostile_text_is_not_filled():
    report = replace(studies.single(), study_id="{{script}}{{nothing}}")
    assert Page(render(report)).text.count("{{script}}{{nothing}}") >= 1


def test_samples_inside_are_the_samples(parsed):
    for name in ("tune", "troubled"):
        samples = to_builtins(getattr(studies, name)().samples)
        assert parsed[name].data("assay-samples") == json.loads(json.dumps(samples))


def test_hostile_samples_survive_the_way_through_the_page(parsed):
    found = {s["launch"]["arm"] for s in parsed["hostile"].data("assay-samples")}
    assert found == set(studies.HOSTILE)


def test_numbers_that_json_has_no_word_for_are_null():
    report = studies.single()
    odd = studies._with(report.samples[0], metrics={"images_per_s": 1.0, "x": float("inf")})
    page = Page(render(replace(report, samples=(odd,))))
    assert page.data("assay-samples")[0]["metrics"] == {"images_per_s": 1.0, "x": None}


def test_the_verdict_comes_first(parsed):
    text = parsed["tune"].text
    sentence = studies.tune().conclusion.recommendation.sentence
    assert text.index(sentence) < text.index("Distribution of wall time")
    assert text.index("What weakens this answer") < text.index("Distribution of wall time")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "tune",
            ["\u221239.6\u00a0%", "median of 14 launches", "Run it without assay", "exec python3"],
        ),
        ("keep_default", ["Keep the default", "There is none: the default is kept"]),
        (
            "interrupted",
            [
                "No verdict yet. The study was interrupted after 29 launches.",
                "assay study resume s7f3a",
                "That is not a claim.",
            ],
        ),
        ("compare", ["best of 3", "takes 29.0 % less time than", "37.4 % more time"]),
        ("null", ["Two identical arms differ by", "is unclear", "About 160 pairs"]),
        (
            "measure",
            [
                "The images_per_s is 844.6 images/s on average.",
                "The true mean lies between",
                "higher is better",
            ],
        ),
        ("single", ["No verdict yet.", "median of 1 launch"]),
        ("all_failed", ["The study failed after 3 launches.", "exit status 1"]),
        ("troubled", ["malloc was unverified in", "timed out", "2 sittings"]),
    ],
)
def test_each_state_says_what_it_is(parsed, name, words):
    text = parsed[name].text.replace("\u00a0", " ")
    for word in words:
        assert word.replace("\u00a0", " ") in text, word


def test_grants_are_counted_for_each_setting():
    report = studies.tune()
    tallies = {t.name: t for t in tally(report.samples)}
    asked = [s for s in report.samples if "thp" in s.settings]
    always = sum(s.launch.configuration["thp"] == "always" for s in asked)
    assert tallies["thp"].counts == {
        Granted.GRANTED: len(asked) - always,
        Granted.DEGRADED: always,
    }
    assert tallies["thp"].reasons[0][1] == always
    assert tallies["cpu.isa"].level.value == "effective"
    winner = report.conclusion.recommendation.settings
    assert {t.name for t in tally(report.samples, winner)} == set(winner)


def test_without_a_machine_the_strata_say_what_is_known(parsed):
    page = Page(render(replace(studies.tune(), machine=None)))
    assert "Intel(R) Xeon(R)" in page.text and "not in the store" in page.text


def test_a_report_is_not_heavier_than_its_library_and_samples():
    assert len(render(studies.tune()).encode()) < 1_600_000


def test_write_replaces_the_file_whole(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    write(studies.single(), target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    current = os.umask(0o022)
    os.umask(current)
    return current


def test_write_says_why_it_cannot(tmp_path):
    with pytest.raises(NotPossible) as caught:
        write(studies.single(), tmp_path / "none" / "report.html")
    assert "No such file" in caught.value.cause and "-o" in caught.value.remedy
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(NotPossible):
        write(studies.single(), folder)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_elements_escape_by_default():
    assert el("p", "<b>&\"'", class_='"x') == ('<p class="&quot;x">&lt;b&gt;&amp;&quot;&#x27;</p>')
    assert (
        el("p", Html("<b>"), None, ["a", ["b"]], hidden=True, title=None) == "<p hidden><b>ab</p>"
    )
    assert join("<", Html("<")) == "&lt;<"


def test_a_data_block_cannot_be_left():
    block = data_block("x", {"a": "</script><!--\u2028&"})
    inner = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set("<>&\u2028") & set(inner)
    assert json.loads(inner) == {"a": "</script><!--\u2028&"}
