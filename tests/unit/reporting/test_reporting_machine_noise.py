"""Picture of the noise of a machine, and terminal output."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from assay.cli.machine.noise_document import noise_answer
from assay.cli.machine.noise_text import figure_lines, noise_lines
from assay.cli.show.json_output import json_text
from assay.noise.driver import NoiseMeasurement, ProcessUsage
from assay.noise.periods import KnownPeriod
from assay.noise.summary import NoiseSummary, summarize_noise
from assay.records import to_builtins
from assay.records.noise import CpuNoise, ExplainedDetour, NoiseRun
from assay.reporting.machine_noise import MAX_DOTS, machine_noise_figure, noise_page
from assay.reporting.pictures.detours import detours_svg
from assay.reporting.pictures.theme import standalone
from assay.units import significant
from json_schemas import assert_valid

MS = 1_000_000
LONG = "99 a-device-with-a-name-that-does-not-end\x1b[31m-and-hides"


def cpu(number: int, detours: int) -> CpuNoise:
    at = tuple(range(0, detours * MS // 2, MS // 2))
    took = tuple(2000 + 40 * (i % 1000) ** 2 for i in range(detours))
    worst = ExplainedDetour(
        start_ns=0, duration_ns=max(took, default=1), counter_window_ns=MS, on_cpu_ns=MS,
        cpu=number,
        interrupt_window_ns=MS, interrupts={LONG: 1},
    )  # fmt: skip
    steps = tuple(900_000 - (9_000 if i % 4 == 0 else i % 3 * 20) for i in range(2000))
    return CpuNoise(
        cpu=number, length_ns=2000 * MS, steps=900_000, values=steps, start_ns=at, duration_ns=took,
        worst=(worst,) if took else (),
    )  # fmt: skip


def answer(cpus: int = 2, detours: int = 500, method: str = "ftq") -> NoiseSummary:
    run = NoiseRun(
        method=method,
        quantum_ns=MS,
        threshold_ns=1000,
        cpus=(
            *(cpu(number, detours) for number in range(cpus)),
            CpuNoise(cpu=99, error="Invalid argument"),
        ),
    )
    busy = ProcessUsage(7, "na\x1bme", 1, 1.5)
    return summarize_noise(
        [NoiseMeasurement(run, {0: 0.5}, 3, (busy,))], [KnownPeriod(0.004, "the tick")]
    )


def svg_of(found: NoiseSummary) -> str:
    assert found.source is not None
    rhythms = [(1 / one.period.period_s, one.likely) for one in found.periods]
    return detours_svg(machine_noise_figure(found.source, found.histogram, found.spectrum, rhythms))


def texts(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


def test_noise_picture_has_three_panels() -> None:
    said = texts(standalone(svg_of(answer())))
    for words in ("detours by their length", "start and length", "spectrum", "4.00 ms: the tick"):
        assert words in said
    assert "CPU 0" in said and "CPU 1" in said
    assert "1,000 detours on 2 CPUs" in said


def test_picture_without_series_has_no_spectrum() -> None:
    assert "spectrum" not in texts(svg_of(answer(method="selfish")))


@pytest.mark.parametrize(("cpus", "detours"), [(1, 0), (1, 1), (9, 30)])
def test_odd_numbers_are_drawn(cpus: int, detours: int) -> None:
    assert texts(svg_of(answer(cpus, detours)))


def test_picture_of_many_detours_is_small() -> None:
    found = answer(detours=100_000)
    assert found.source is not None
    shown = machine_noise_figure(found.source, found.histogram, found.spectrum, ())
    assert {len(dots) for dots in shown.detours.values()} == {MAX_DOTS}
    longest = max(took for cpu in found.source.measured for took in cpu.duration_ns)
    assert longest in {took for _, took in shown.detours[0]}
    assert len(svg_of(found)) < 400_000


def test_noise_picture_is_reproducible() -> None:
    assert svg_of(answer()) == svg_of(answer())


def test_noise_page_is_complete_and_escaped() -> None:
    page = noise_page(svg_of(answer()), "<script>\nsecond line")
    assert page.startswith("<!doctype html>")
    assert "<script>" not in page and "&lt;script&gt;\nsecond line" in page
    assert "<svg" in page


def test_lines_fit_terminal_without_loss() -> None:
    for method in ("ftq", "fwq", "selfish", "osnoise", "timerlat"):
        lines = list(noise_lines(answer(method=method)))
        assert max(map(len, lines)) <= 80
        text = "\n".join(lines)
        assert "\x1b" not in text
        assert "CPU 99 was not measured: Invalid argument" in text
        assert "interrupt 99 a-device" in text
    lines = list(noise_lines(answer(method="ftq")))
    assert any("4.00 ms  p = 0.005" in line and "the tick" in line for line in lines)


def test_run_without_detours_is_reported() -> None:
    lines = "\n".join(noise_lines(answer(detours=0)))
    assert "    0        0 %          0          -" in lines


def test_figures_and_document_agree() -> None:
    found = answer()
    document = to_builtins(noise_answer(found))
    lines = dict(line.split()[:2] for line in figure_lines(found))
    assert set(lines) == set(document["figures"])
    for name, value in document["figures"].items():
        assert float(lines[name]) == pytest.approx(value, rel=1e-4)
    assert document["methods"][0]["cpus"][-1] == {"cpu": 99, "error": "Invalid argument"}
    assert document["periods"][0]["likely_cause"] == "the tick"


def test_picture_names_machine_date_and_lines() -> None:
    found = answer()
    assert found.source is not None
    figure = machine_noise_figure(found.source, found.histogram, found.spectrum, ())
    figure = replace(figure, machine="A\x1b[31m processor", date="2026-01-02 03:04 UTC")
    said = texts(detours_svg(figure))
    assert "processor" in said and "\x1b" not in said
    share = 100 * sum(map(sum, (one.duration_ns for one in found.source.measured))) / (4000 * MS)
    assert f"2026-01-02 03:04 UTC: {significant(share)} % of the time lost" in said
    assert "reached by chance in one series of twenty" in said


def test_time_is_summed_by_kind_of_cause() -> None:
    found = answer()
    (one,) = found.causes
    assert found.source is not None
    total = sum(sum(part.duration_ns) for part in found.source.measured)
    assert (one.kind, one.count) == ("interrupt", 2)
    assert one.share == pytest.approx(one.lost_ns / total)
    (entry,) = noise_answer(found).causes
    assert (entry.kind, entry.share) == ("interrupt", one.share)
    assert any(f"{100 * one.share:.1f} %  an interrupt (2)" in line for line in noise_lines(found))
    assert answer(detours=0).causes == ()


@pytest.mark.parametrize(("detours", "absent"), [(99, 2), (100, 1), (999, 1), (1000, 0)])
def test_quantile_is_shown_with_values_beyond_it(detours: int, absent: int) -> None:
    lines = list(noise_lines(answer(cpus=1, detours=detours, method="selfish")))
    row = next(line for line in lines if line.split()[:1] == ["0"])
    assert row.split().count("-") == absent


def test_brief_answer_has_tables_and_causes() -> None:
    lines = list(noise_lines(answer(), brief=True))
    assert [line for line in lines if line.split()[:1] == ["all"]]
    assert not [line for line in lines if line.split()[:1] in (["0"], ["1"])]
    assert any("likely causes:" in line for line in lines)
    assert not any("and their likely causes" in line or "busiest" in line for line in lines)


@pytest.mark.parametrize("detours", [0, 500])
@pytest.mark.parametrize("method", ["selfish", "fwq", "ftq", "osnoise"])
def test_noise_json_matches_its_schema(method: str, detours: int) -> None:
    found = answer(method=method, detours=detours)
    document = json.loads(json_text(to_builtins(noise_answer(found))))
    assert_valid("machine-noise", document)
    first, *_, last = document["methods"][0]["cpus"]
    assert last == {"cpu": 99, "error": "Invalid argument"}
    assert ("detour_max_us" in first) is (detours > 0)
    assert ("work_max_us" in first) is (method == "fwq")
    assert (document["steal_s"], document["context_switches"]) == ({"0": 0.5}, 3)
