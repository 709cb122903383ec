"""The benchmark page, rendered from stored results whose parts are measured separately."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.errors import InvalidInputError

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.tier import __main__ as command
from benchmarks.tier import cells, efficiency, measuring, targets, ways
from benchmarks.tier.bench import Bench
from benchmarks.tier.page import text
from benchmarks.tier.results import Part, Results, read, shown

RECORDED = Path(__file__).parents[2] / "fixtures" / "tier-results.json"


@pytest.fixture
def results() -> Results:
    return read(RECORDED)


@pytest.fixture
def kept(tmp_path: Path) -> command.Kept:
    """Provide a directory with all parts."""
    (tmp_path / "some.json").write_bytes(RECORDED.read_bytes())
    return command.Kept(tmp_path, "some")


def bench(folder: Path) -> Bench:
    return Bench(
        folder=folder,
        dram_bytes=32 << 20,
        rounds=2,
        seconds=0.0,
        budget_s=1.0,
        quick=True,
        date="2026-12-01",
        load=(0.0, 0.0, 0.0),
    )


def test_each_section_describes_itself(results: Results) -> None:
    page = text(results)
    heads = [line for line in page.splitlines() if line.startswith("#")]
    assert heads == [
        "# Data that exceed memory",
        *("## Targets", "## Method", "## Rates", "## Several disks", "## Efficiency"),
    ]
    for sentence in (
        "Measured on 2026-11-23 with assay 0.1.0 on AMD EPYC, 2 CPUs, Linux 6.18.44: 2 rounds",
        "Measured on 2026-11-24 with assay 0.1.0 on AMD EPYC, 2 CPUs, Linux 6.18.44: 1 round",
        "1 to 2 rounds of each cell in 40 min 0 s, 128 MiB of memory.",
        "| forward | 4 times 256 MiB | device | 2.35 (2.2 to 2.5) | 1.23 |",
        "| forward | 4 times 256 MiB | swap | 0.525 (0.5 to 0.55) | 5.50 |",
        "| forward | 8 times 256 MiB | swap | 0.22 (0.2 to 0.24) | 11.00 |",
        "| random pages of 4 KiB | 4 times 64.0 MiB | tier, replayed | 0.11 (0.108 to 0.112) |",
        "| forward | two disks | 0.469 (0.469 to 0.469) | 2.00 |",
        "![Efficiencies with 1 thread](tier-efficiency-1-thread.svg)",
        "![Efficiencies with 2 threads](tier-efficiency-2-threads.svg)",
    ):
        assert sentence in page


@pytest.mark.parametrize("absent", ["rates", "disks", "efficiency"])
def test_unmeasured_part_has_no_section(results: Results, absent: str) -> None:
    heads = {"rates": "## Rates", "disks": "## Several disks", "efficiency": "## Efficiency"}
    page = text(replace(results, **{absent: None}))
    assert [one for one in heads if heads[one] not in page] == [absent]
    assert "## Targets" not in text(Results(schema=1))


def test_targets_are_compared_with_results(results: Results) -> None:
    rows = {measure: found for measure, *found in targets.rows_of(results)}
    enough = "efficiency from 1.3 I\\*"
    twice = "efficiency with data of 2 times DRAM"
    missed = ("missed", "cause not yet known")
    assert {measure: tuple(found) for measure, found in rows.items()} == {
        "forward: rate relative to device": ("at least 0.9 times", "1.23 times", "met", ""),
        "forward: rate relative to swap": ("at least 6 times", "5.50 times", *missed),
        "forward: rate relative to best swap": ("at least 4 times", "5.50 times", "met", ""),
        "forward: rate relative to swap, advised by the program": (
            *("at least 2 times", "3.57 times", "met", ""),
        ),
        "random pages of 4 KiB: rate relative to best swap": (
            *("at least 1 times", "0.92 times", *missed),
        ),
        "repeated cycle: reads served from memory": ("at least 50 %", "55 %", "met", ""),
        "forward: rate with two disks relative to one": (
            *("at least 1.8 times", "2.00 times", "met", ""),
        ),
        "tiles of 2 MiB: rate with two disks relative to one": (
            *("at least 1.8 times", "1.64 times", *missed),
        ),
        # Neither data that fit into DRAM count, nor intensities below 1.3 I*.
        f"polynomial, read, 1 thread: {enough}": (
            *("at least 80 %", "84 %, the lowest of 2 cells", "met", ""),
        ),
        f"polynomial, read and written, 1 thread: {enough}": ("at least 80 %", "73 %", *missed),
        f"LU by tiles, 1 thread: {twice}": ("at least 80 %", "89 %", "met", ""),
        f"LU from the left, 1 thread: {twice}": ("at least 80 %", "not measured", "", ""),
        # The targets apply to one thread and the pager's.
        f"polynomial, read, 2 threads: {enough}": ("none", "50 %", "for comparison", ""),
        f"polynomial, read and written, 2 threads: {enough}": ("none", "not measured", "", ""),
        f"LU by tiles, 2 threads: {twice}": ("none", "67 %", "for comparison", ""),
        f"LU from the left, 2 threads: {twice}": ("none", "not measured", "", ""),
    }


def test_additional_rounds_are_merged_by_cell(results: Results) -> None:
    assert results.efficiency is not None
    cells = results.efficiency.cells
    again = next(one for one in cells if one.work == "LU by tiles")
    found = efficiency.with_more(cells, [again, replace(again, threads=64)])
    assert len(found) == len(cells)
    for one, joined in zip(cells, found, strict=True):
        twice = 2 if one is again else 1
        assert joined == replace(one, memory_s=one.memory_s * twice, tier_s=one.tier_s * twice)


def test_results_are_stored_as_lines(results: Results, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(shown(results))
    assert read(file) == results
    rows = [line for line in file.read_text().splitlines() if line.startswith('   {"')]
    assert results.rates is not None and results.efficiency is not None
    assert results.disks is not None
    listed = (results.rates.rows, results.disks.rows, results.efficiency.cells)
    assert len(rows) == sum(map(len, listed))


def test_remeasured_part_replaces_only_itself(
    results: Results, kept: command.Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert results.disks is not None
    new = replace(results.disks, about=replace(results.disks.about, date="2026-12-01"))

    def anew(bench: Bench) -> Iterator[Part]:
        yield new

    monkeypatch.setattr(command, "PARTS", {**command.PARTS, "disks": anew})
    found = command.measured(bench(kept.folder), ["disks"], kept)
    assert found == replace(results, disks=new) == kept.read()
    page = (kept.folder / "some.md").read_text()
    assert "on 2026-12-01 with assay" in page and "on 2026-11-24 with assay" not in page
    assert "on 2026-11-23 with assay" in page


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_interrupted_part_keeps_results(
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: type[BaseException],
) -> None:
    def rates(bench: Bench) -> Iterator[Part]:
        assert results.rates is not None
        yield results.rates

    def disks(bench: Bench) -> Iterator[Part]:
        assert results.disks is not None
        yield results.disks
        raise end

    def efficiency(bench: Bench) -> Iterator[Part]:
        pytest.fail("it goes on")

    parts = {"rates": rates, "disks": disks, "efficiency": efficiency}
    monkeypatch.setattr(command, "PARTS", parts)
    kept = command.Kept(tmp_path / "build", "bench-tier")
    with pytest.raises(end):
        command.measured(bench(tmp_path), list(parts), kept)
    assert kept.read() == replace(results, efficiency=None)


def test_figures_are_written_beside_page(results: Results, tmp_path: Path) -> None:
    old = tmp_path / "tier-efficiency-64-threads.svg"
    old.touch()
    command.Kept(tmp_path, "tier").write(results)
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    assert pictures == {"tier-efficiency-1-thread.svg", "tier-efficiency-2-threads.svg"}
    assert all(f"({name})" in (tmp_path / "tier.md").read_text() for name in pictures)


def test_page_of_stored_results_measures_nothing(
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "BUILD", command.Kept(tmp_path, "bench-tier"))
    monkeypatch.setattr(command, "PARTS", {})
    monkeypatch.setattr(sys, "argv", ["tier", "--from", str(RECORDED)])
    command.main()
    assert capsys.readouterr().out.startswith(text(results))
    assert (tmp_path / "bench-tier.md").read_text() == text(results)


@pytest.mark.parametrize("content", [None, "{}", '{"schema": 2}', "no JSON"])
def test_invalid_results_are_refused(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidInputError):
        read(file)


@pytest.mark.parametrize(
    "words",
    [["--quick", "--write"], ["--quick", "--from", "x"], ["--part", "all"], ["--budget", "soon"]],
)
def test_invalid_options_are_refused(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tier", *words])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "error: " in capsys.readouterr().err


def test_device_reads_same_amount_in_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "probe"
    path = '{"path":"%s","read_bytes_per_s":4e9}'
    answer = '{"userfaultfd":{},"io_uring":{},"advice":{},"paths":[' + path + "]}"
    program.write_text(f'#!/bin/sh\necho "$*" > {tmp_path}/words\nprintf \'{answer}\' "$2"\n')
    program.chmod(0o755)
    monkeypatch.setenv("ASSAY_TIER_PROBE", str(program))
    place = ways.Place(tmp_path, 256 << 20, 1 << 30, tmp_path / "filemap.so")
    seen = measuring.measure(cells.BACKWARD, ways.DEVICE, place, 0.5)
    assert seen.rate == pytest.approx(4e9)
    assert (tmp_path / "words").read_text().split() == [
        *("--path", str(tmp_path), "--bytes", str(1 << 30), "--order", "backward"),
    ]


def test_replay_uses_trace_of_same_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many passes; counters of another pass do not apply."""
    runs: list[list[str]] = []
    place = ways.Place(tmp_path, 256 << 20, 1 << 30, tmp_path / "filemap.so")

    class Done:
        returncode = 0
        stdout = json.dumps({"status": "ok", "median_s": 2.0, "bytes": 1 << 28, "samples": 1})

    def run(words: list[str], **_: object) -> Done:
        runs.append(words)
        if any(word.startswith("ASSAY_TIER_TRACE=") for word in words):
            (place.touches / "0.touches").touch()
        place.report.write_text('{"read_bytes": 5}\n')
        return Done()

    monkeypatch.setattr(measuring, "native_folder", lambda env: tmp_path)
    monkeypatch.setattr(ways, "native_folder", lambda env: tmp_path)
    monkeypatch.setattr(measuring.subprocess, "run", run)
    monkeypatch.setattr(ways, "memory_group", lambda limit: contextlib.nullcontext(tmp_path))
    seen = measuring.measure(cells.PAGES, ways.REPLAYED, place, 0.5)
    assert (seen.rate, seen.brought_bytes, seen.passes) == ((1 << 28) / 2.0, 5, 3)
    recording, replaying = ([w for w in one if "=" in w] for one in runs)
    assert set(recording) - set(replaying) == {f"ASSAY_TIER_TRACE={place.touches}"}
    assert set(replaying) - set(recording) == {f"ASSAY_TIER_REPLAY={place.touches}"}
    kernels = [one[one.index(str(tmp_path / "assay-kernel-traversal")) :] for one in runs]
    assert kernels[0] == kernels[1]
    assert kernels[0][-4:] == ["--seconds", "60", "--samples", "1"]
