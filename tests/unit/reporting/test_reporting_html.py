"""The page: self-contained, safe with hostile text, valid in every state of a study."""

import base64
import gzip
import hashlib
import itertools
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import msgspec
import pytest
import report_studies as studies

from assay.errors import NotPossibleError
from assay.records import Evidence, GrantStatus, Outcome, Verdict, to_builtins
from assay.records.workload import WALL
from assay.reporting import evidence
from assay.reporting.evidence_columns import EvidenceColumns
from assay.reporting.formatting import MINUS
from assay.reporting.grants import tally
from assay.reporting.html import render, render_page, write_document
from assay.reporting.markup import PACKED_FROM, Html, data_block, el, join
from assay.reporting.parts.grants import failures
from assay.reporting.scale import scale_for
from assay.stats.summary import summarise
from assay.wording.sentence import evidence_text

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
    """Parser of a page: elements, attributes, ids, scripts, and visible text."""

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
        about, body = next((a, b) for a, b in self.scripts if a.get("id") == identifier)
        content = "".join(body)
        if about.get("data-encoding"):
            return json.loads(gzip.decompress(base64.b64decode(content)))
        return json.loads(content)

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


@pytest.mark.rotating
@pytest.mark.parametrize("name", STATES)
def test_elements_are_closed_and_ids_unique(parsed, name):
    page = parsed[name]
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    targets = {v[1:] for t, k, v in page.attributes if t == "a" and k == "href"}
    assert targets <= set(page.ids)


@pytest.mark.parametrize("name", STATES)
def test_policy_allows_embedded_content_only(parsed, name):
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
def test_page_makes_no_requests(parsed, name):
    page = parsed[name]
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    for tag, key, value in page.attributes:
        assert key not in ("src", "srcset", "style", "action"), (tag, key, value)
        assert not key.startswith("on"), (tag, key, value)
        if key.endswith("href"):
            assert value.startswith("#")
    assert "@import" not in page.styles[0] and "url(" not in page.styles[0]


@pytest.mark.parametrize("name", STATES)
def test_heading_levels_are_consecutive(parsed, name):
    levels = [int(t[1]) for t in parsed[name].tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("name", STATES)
def test_header_cells_have_a_scope_and_tables_a_caption(parsed, name):
    page = parsed[name]
    scoped = sum(1 for t, k, _ in page.attributes if t == "th" and k == "scope")
    assert scoped == page.tags.count("th")
    assert page.tags.count("caption") == page.tags.count("table")


def test_hostile_text_is_escaped(pages, parsed):
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


def test_slot_in_hostile_text_is_not_filled():
    report = replace(studies.single(), study_id="{{script}}{{nothing}}")
    assert Page(render(report)).text.count("{{script}}{{nothing}}") >= 1


def test_embedded_samples_equal_samples(parsed):
    for name in ("tune", "troubled"):
        samples = to_builtins(getattr(studies, name)().samples)
        samples = [{**sample, "left_out": False} for sample in samples]
        assert parsed[name].data("assay-samples") == json.loads(json.dumps(samples))


def test_hostile_samples_are_embedded_unchanged(parsed):
    found = {s["launch"]["arm"] for s in parsed["hostile"].data("assay-samples")}
    assert found == set(studies.HOSTILE)


def test_non_finite_numbers_are_null():
    report = studies.single()
    odd = studies._with(report.samples[0], metrics={"images_per_s": 1.0, "x": float("inf")})
    page = Page(render(replace(report, samples=(odd,))))
    assert page.data("assay-samples")[0]["metrics"] == {"images_per_s": 1.0, "x": None}


def test_verdict_is_first(parsed):
    text = parsed["tune"].text
    sentence = studies.tune().conclusion.recommendation.sentence
    assert text.index(sentence) < text.index("Distribution of wall time")
    assert text.index("Limitations of this answer") < text.index("Distribution of wall time")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "tune",
            ["\u221239.6\u00a0%", "median of 14 launches", "Run without assay", "exec python3"],
        ),
        ("keep_default", ["Keep the default", "No script: the default is kept"]),
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
        (
            "all_failed",
            [
                "No verdict: none of 3 launches ended well.",
                "The last one: exit status 1.",
                "fewer than two launches of the baseline have a value",
            ],
        ),
        ("troubled", ["malloc was unverified in", "timed out", "2 strata"]),
    ],
)
def test_each_state_of_study_is_described(parsed, name, words):
    text = parsed[name].text.replace("\u00a0", " ")
    for word in words:
        assert word.replace("\u00a0", " ") in text, word


def test_grants_are_counted_by_setting():
    report = studies.tune()
    tallies = {t.name: t for t in tally(report.samples)}
    asked = [s for s in report.samples if "thp" in s.settings]
    always = sum(s.launch.configuration["thp"] == "always" for s in asked)
    assert tallies["thp"].counts == {
        GrantStatus.GRANTED: len(asked) - always,
        GrantStatus.DEGRADED: always,
    }
    assert tallies["thp"].reasons[0][1] == always
    assert tallies["cpu.isa"].level.value == "effective"
    winner = report.conclusion.recommendation.settings
    assert {t.name for t in tally(report.samples, winner)} == set(winner)


def test_page_without_machine_shows_strata(parsed):
    page = Page(render(replace(studies.tune(), machine=None)))
    assert "Intel(R) Xeon(R)" in page.text and "contains no machine document" in page.text


def test_size_of_report_is_library_and_samples():
    assert len(render(studies.tune()).encode()) < 1_600_000


@pytest.mark.rotating
def test_thousand_configurations_fit_into_three_megabytes():
    page = render(studies.crowd(1000))
    assert len(page.encode()) < 2_500_000
    assert Page(page).data("assay-figures")["rows"][999]["n"] == 1


def test_page_has_title_and_metadata(parsed):
    page = parsed["tune"]
    assert ("html", "lang", "en") in page.attributes
    assert "assay tune: python3 examples/digits.py --components 32" in page.text
    pictures = page.tags.count("svg")
    assert pictures and page.attributes.count(("svg", "role", "img")) == pictures
    named = {v for t, k, v in page.attributes if t == "svg" and k == "aria-labelledby"}
    assert {identifier for names in named for identifier in names.split()} <= set(page.ids)


def test_page_uses_one_minus_sign(parsed):
    claim = studies.tune().conclusion.claims[0]
    sentence = f"It takes less time than with zstd -3 ({evidence_text(claim, WALL)})."
    report = studies.tune()
    chosen = studies._with(report.conclusion.recommendation, sentence=sentence)
    said = replace(report, conclusion=studies._with(report.conclusion, recommendation=chosen))
    text = Page(render(said)).text
    assert "-" in evidence_text(claim, WALL)
    assert f"zstd -3 ({evidence_text(claim, WALL).replace('-', MINUS)})" in text
    assert not re.search(r"-\d+\.\d", text.partition("Distribution of")[0])


@pytest.mark.rotating
def test_unclear_winner_has_no_verdict():
    report = studies.keep_default()
    unclear = studies._with(report.conclusion.claims[0], verdict=Verdict.UNCLEAR)
    chosen = studies._with(report.conclusion.recommendation, claim=unclear, sentence="Not decided.")
    said = replace(report, conclusion=studies._with(report.conclusion, recommendation=chosen))
    assert ">not decided</span>" in render(said)
    assert ">keep the default</span>" in render(report)


def test_interval_of_time_is_not_negative():
    report = studies.measure(launches=4)
    spec = studies._with(report.spec, workload=studies.Workload(argv=("noisy",)))
    values = [0.1, 0.2, 0.15, 3.0]
    samples = tuple(
        studies._with(s, metrics={"wall_s": v}) for s, v in zip(report.samples, values, strict=True)
    )
    summary = studies._with(summarise(values), ci=(-4.0, 5.7))
    arm = studies._with(report.conclusion.arms[0], summary={"wall_s": summary})
    conclusion = studies._with(report.conclusion, metric="wall_s", arms=(arm,))
    said = replace(report, spec=spec, samples=samples, conclusion=conclusion)
    text = Page(render(said)).text
    assert "between 0.0 and 5,700.0 ms, cut off at 0" in text


@pytest.mark.rotating
def test_interval_has_its_own_confidence():
    report = studies.compare()
    claims = tuple(studies._with(c, alpha=0.025) for c in report.conclusion.claims)
    shared = replace(report, conclusion=studies._with(report.conclusion, claims=claims))
    assert "Change, 97.5 % interval" in Page(render(shared)).text
    assert "Change, 95" not in Page(render(shared)).text


def test_time_outs_are_one_line(parsed):
    samples = tuple(
        studies._with(
            s,
            outcome=Outcome.TIMED_OUT,
            message=None,
            launch=studies._with(s.launch, timeout_s=cap),
        )
        for s, cap in zip(studies.interrupted().samples, (0.48, 0.477, 0.492), strict=False)
    )
    words = str(failures(samples))
    assert words.count("<tr>") == 2 and "timed out after 477 ms to 492 ms" in words
    assert "<td>1 arm</td>" in words


def test_evidence_has_labels_and_integer_counts():
    kinds = (("pressure.io_full_s", 5e-5, "s"), ("minor_faults", 9467.0, ""))
    watched = [
        studies._with(s, evidence=tuple(Evidence(kind=k, value=v, unit=u) for k, v, u in kinds))
        for s in studies.single().samples
    ]
    found = {e.label: e.shown(e.median) for e in evidence.tally(EvidenceColumns(watched))}
    assert found == {"pressure: io full": "50.0 \u00b5s", "minor faults": "9,467"}


def test_small_spread_is_not_shown_as_zero():
    scale = scale_for([100.0], "s")
    assert scale.decimals == 1
    assert scale.spread(0.02) == "0.02" and scale.spread(1.26) == "1.3"
    assert scale.spread(0.0) == "0.0"


def test_write_replaces_file_atomically(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    write_document(render_page(studies.single()), target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    current = os.umask(0o022)
    os.umask(current)
    return current


def test_write_reports_cause_of_failure(tmp_path):
    with pytest.raises(NotPossibleError) as caught:
        write_document(render_page(studies.single()), tmp_path / "none" / "report.html")
    assert "No such file" in caught.value.cause and "-o" in caught.value.remedy
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(NotPossibleError):
        write_document(render_page(studies.single()), folder)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_elements_escape_by_default():
    assert el("p", "<b>&\"'", class_='"x') == ('<p class="&quot;x">&lt;b&gt;&amp;&quot;&#x27;</p>')
    assert (
        el("p", Html("<b>"), None, ["a", ["b"]], hidden=True, title=None) == "<p hidden><b>ab</p>"
    )
    assert join("<", Html("<")) == "&lt;<"


def test_large_data_block_is_compressed_and_marked():
    value = {"a": ["</script>" + "x" * 40] * (PACKED_FROM // 40)}
    block = data_block("x", value)
    opening, _, rest = block.partition(">")
    assert 'data-encoding="gzip, base64"' in opening and 'type="text/plain"' in opening
    packed = rest.removesuffix("</script>")
    assert "<" not in packed and len(packed) < PACKED_FROM // 20
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == value
    assert data_block("x", value) == block


def test_data_block_cannot_be_terminated_by_text():
    block = data_block("x", {"a": "</script><!--\u2028&"})
    inner = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set("<>&\u2028") & set(inner)
    assert json.loads(inner) == {"a": "</script><!--\u2028&"}


@pytest.mark.parametrize(
    ("blocks", "words"), [(1, "1 complete pair each"), (2, "2 complete pairs")]
)
def test_claims_of_single_block_are_singular(blocks, words):
    report = studies.sweep(blocks=2)
    claims = tuple(msgspec.structs.replace(c, blocks=blocks) for c in report.conclusion.claims)
    conclusion = msgspec.structs.replace(report.conclusion, claims=claims)
    assert words in Page(render(replace(report, conclusion=conclusion))).text
