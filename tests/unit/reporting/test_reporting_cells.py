"""Pictures of a sweep, and their accessibility."""

import itertools
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import msgspec
import pytest
import report_studies as studies

from assay.records import Choices, Configuration, Goal, Kind, Parameter, Range, Space
from assay.reporting import svg
from assay.reporting.arms import Role, arm_rows
from assay.reporting.cells import ABSENT, GROUPS, STEPS, heat_figure, scatter_figures
from assay.reporting.cells_text import to_csv, to_markdown
from assay.reporting.html import render
from assay.reporting.pictures.heatmap import prints_values
from assay.reporting.pictures.theme import DARK, LIGHT
from assay.reporting.scale import scale_for
from assay.reporting.trials import trials


def figures(report):
    rows = arm_rows(report, trials(report))
    scale = scale_for([v for row in rows for v in row.values], report.metric.unit)
    return heat_figure(report, rows, scale), scatter_figures(report, rows, scale)


def of(report, **changes):
    """Return the report with another specification."""
    return replace(report, spec=msgspec.structs.replace(report.spec, **changes))


@pytest.fixture(scope="module")
def report():
    return studies.sweep()


def sweep_over(*parameters, takes=lambda c: 1.0, blocks=3, baseline=None):
    """Return a study of all combinations."""
    lab = studies.Lab(1)
    names = [p.name for p in parameters]
    columns = [p.domain.values() for p in parameters]
    cells = [
        Configuration(dict(zip(names, row, strict=True))) for row in itertools.product(*columns)
    ]
    if baseline is not None:
        cells.insert(0, baseline)
    arms = tuple(studies.Arm(name=str(c), configuration=c) for c in cells)
    for block in range(blocks):
        for position, arm in enumerate(arms):
            factor = takes(arm.configuration)
            lab.run(arm.configuration, studies.Stage.CONFIRM, block, position, factor=factor)
    base = studies.sweep()
    spec = msgspec.structs.replace(base.spec, arms=arms, space=Space(parameters=parameters))
    return replace(base, spec=spec, samples=tuple(lab.samples), conclusion=None)


def test_heat_map_has_median_of_each_cell(report):
    heat, _ = figures(report)
    assert (heat.across, heat.down) == ("arg.jobs", "malloc")
    assert heat.columns == ("1", "4", "16")
    assert heat.rows == ("jemalloc", "tcmalloc")
    assert len(heat.cells) == 6, "the baseline stands beside the design"
    places = {(c.column, c.row): c for c in heat.cells}
    medians = {a.name: a.summary["wall_s"].median for a in report.conclusion.arms if a.summary}
    assert places[1, 0].value == medians["arg.jobs=4 malloc=jemalloc"] == heat.best
    assert places[1, 0].role is Role.WINNER
    assert places[1, 0].step == 0
    assert places[2, 1].value is None
    assert places[2, 1].note == "failed"
    assert max(c.step for c in heat.cells) == STEPS - 1


def test_best_value_has_strongest_colour_for_any_goal(report):
    heat, _ = figures(report)
    metric = msgspec.structs.replace(report.metric, goal=Goal.HIGHER)
    workload = msgspec.structs.replace(report.spec.workload, metrics=(metric,))
    other, _ = figures(of(report, workload=workload))
    assert (other.best, other.worst) == (heat.worst, heat.best)
    for a, b in zip(
        sorted(c.step for c in heat.cells if c.value),
        sorted(STEPS - 1 - c.step for c in other.cells if c.value),
        strict=True,
    ):
        assert abs(a - b) <= 1


def test_heat_map_requires_two_settings():
    a = Parameter(name="arg.a", domain=Choices((1, 2)), default=1)
    b = Parameter(name="malloc", domain=Choices(("jemalloc", "tcmalloc")))
    c = Parameter(name="nice", domain=Choices((1, 2, 3)))
    assert figures(sweep_over(a))[0] is None
    assert figures(sweep_over(a, b, c))[0] is None
    assert figures(sweep_over(a, b))[0] is not None
    fixed = Parameter(name="nice", domain=Choices((5,)))
    assert figures(sweep_over(a, b, fixed))[0] is not None
    many = Parameter(name="arg.n", domain=Range(1, 31, step=1), default=1)
    assert figures(sweep_over(a, many, blocks=1))[0] is None


def test_unset_setting_has_its_own_row():
    a = Parameter(name="threads", domain=Choices((1, 2)))
    b = Parameter(name="omp.bind", domain=Choices(("close", "spread")), condition="threads > 1")
    base = sweep_over(a, b)
    idle = [arm for arm in base.spec.arms if arm.configuration["threads"] == 1]
    bare = studies.Arm(name="threads=1", configuration=Configuration({"threads": 1}))
    arms = (bare, *(arm for arm in base.spec.arms if arm not in idle))
    samples = [
        msgspec.structs.replace(
            s,
            launch=msgspec.structs.replace(
                s.launch, arm=bare.name, configuration=bare.configuration
            ),
        )
        if s.launch.arm == idle[0].name
        else s
        for s in base.samples
        if s.launch.arm != idle[1].name
    ]
    heat, _ = figures(replace(of(base, arms=arms), samples=tuple(samples)))
    assert heat is not None
    assert heat.columns == (ABSENT, "close", "spread")


def test_scatter_has_all_launches_and_medians(report):
    _, (only,) = figures(report)
    assert only.setting == "arg.jobs"
    assert only.base == 4
    assert len(only.points) == 5 * 6
    assert [x for x, _ in only.medians] == [1, 4, 16]
    assert only.baseline is not None
    assert only.medians[1][1] == min(y for _, y in only.medians)


def test_axis_of_logarithmic_domain_is_logarithmic():
    def base_of(domain):
        (found,) = figures(sweep_over(Parameter(name="arg.a", domain=domain)))[1]
        return found.base

    assert base_of(Range(1, 8, step=2, log=True)) == 2
    assert base_of(Choices((1, 10, 100))) == 10
    assert base_of(Choices((1, 2, 3))) is None
    assert base_of(Range(1, 5, step=1)) is None


def test_many_values_have_grouped_medians():
    wide = Parameter(name="arg.n", domain=Range(1, 60, step=1), default=1)
    (found,) = figures(sweep_over(wide, takes=lambda c: math.sqrt(c["arg.n"])))[1]
    assert len(found.places) == 60
    assert len(found.medians) == GROUPS
    assert [y for _, y in found.medians] == sorted(y for _, y in found.medians)


def texts(document):
    return [
        e.text or "" for e in ElementTree.fromstring(document).iter() if e.tag.endswith("}text")
    ]


@pytest.mark.parametrize("width", [svg.WIDE, svg.NARROW])
def test_sweep_pictures_are_valid_and_reproducible(report, width):
    heat, scatters = figures(report)
    drawn = svg.heat_svg(heat, width, "h")
    assert drawn == svg.heat_svg(heat, width, "h")
    shown = texts(drawn)
    for cell in heat.cells:
        assert (heat.scale.number(cell.value) if cell.value else "failed") in shown
    for label in (*heat.columns, *heat.rows, "arg.jobs", "malloc"):
        assert label in shown
    assert not re.search(r"#[0-9a-f]{6}", drawn), "colours are classes"
    for figure in scatters:
        again = svg.scatter_svg(figure, width, "s")
        assert again == svg.scatter_svg(figure, width, "s")
        assert {"1", "4", "16", "arg.jobs"} <= set(texts(again))


@pytest.mark.rotating
def test_values_without_room_are_omitted():
    wide = Parameter(name="arg.n", domain=Range(1, 25, step=1), default=1)
    other = Parameter(name="arg.m", domain=Range(1, 20, step=1), default=1)
    heat, _ = figures(sweep_over(wide, other, blocks=1))
    assert not prints_values(heat.transposed(), svg.NARROW)
    narrow = svg.heat_svg(heat, svg.NARROW, "h")
    assert not any(heat.scale.number(c.value) in texts(narrow)[:-2] for c in heat.cells)


def luminance(colour):
    """Return the relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_heat_scale_is_readable_by_lightness(theme):
    steps = [theme[f"heat_{step}"] for step in range(STEPS)]
    assert all(contrast(theme["ink"], colour) >= 4.5 for colour in steps)
    levels = [luminance(colour) for colour in steps]
    assert levels in (sorted(levels), sorted(levels, reverse=True))
    assert all(contrast(a, b) >= 1.1 for a, b in itertools.pairwise(steps))


def test_sweep_page_has_its_sections(report):
    page = render(report)
    for part in ("heat", "settings-scatter", "effects", "boxes", "table"):
        assert f'<section id="{part}"' in page
    assert "are confounded with others" in page
    other = render(studies.compare(blocks=3))
    assert 'id="heat"' not in other
    assert "Wall time over two settings" not in other


def test_new_sweep_has_page(report):
    bare = replace(report, samples=(), conclusion=None)
    assert "No verdict yet" in render(bare)


def test_hostile_names_are_escaped(report):
    name = "<b>&'\"|`\u202e"
    parameters = tuple(
        msgspec.structs.replace(p, name=f"env.{name}") if p.name == "malloc" else p
        for p in report.spec.space.parameters
    )

    def renamed(configuration):
        return Configuration(
            {f"env.{name}" if n == "malloc" else n: v for n, v in configuration.items()}
        )

    arms = tuple(
        studies.Arm(name=str(renamed(a.configuration)), configuration=renamed(a.configuration))
        for a in report.spec.arms
    )
    samples = tuple(
        msgspec.structs.replace(
            s,
            launch=msgspec.structs.replace(
                s.launch,
                arm=str(renamed(s.launch.configuration)),
                configuration=renamed(s.launch.configuration),
            ),
        )
        for s in report.samples
    )
    space = msgspec.structs.replace(report.spec.space, parameters=parameters)
    hostile = replace(of(report, arms=arms, space=space), samples=samples, conclusion=None)
    page = render(hostile)
    assert "<b>&" not in page
    assert "\u202e" not in page


def test_exports_have_column_for_each_setting(report):
    lines = to_csv(report.conclusion, report.spec).splitlines()
    assert lines[0].startswith("arg.jobs,malloc,arm,metric,unit,n,")
    assert lines[1].startswith("1,,default,wall_s,s,6,")
    assert len(lines) == 8
    text = to_markdown(report.conclusion, report.spec)
    assert "| arg.jobs | malloc | n |" in text
    assert "**faster, best**" in text
    assert "baseline |" in text
    assert "| effect | change |" in text
    assert report.spec.kind is Kind.SWEEP


@pytest.mark.parametrize("bound_only", [False, True])
def test_bound_of_cell_is_marked(report, bound_only):
    first, *others = report.conclusion.claims
    bound = msgspec.structs.replace(first, ratio=3.0, ci=(2.5, None), bound_only=bound_only)
    conclusion = msgspec.structs.replace(report.conclusion, claims=(bound, *others))
    assert ("\u2265 3.00\u00d7" in to_markdown(conclusion, report.spec)) == bound_only
