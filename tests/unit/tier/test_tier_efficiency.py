"""Efficiencies, their model, and the heat map."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from assay.tier.efficiency import OTHER_WORKS, POLYNOMIALS, Cell, Device, Work, balance
from assay.tier.heatmap import heatmap_svg

DEVICE = Device(read=2e9, write=1e9)
READ = Work(name="w", kernel="k", variants=("v",))
BOTH = Work(name="w", kernel="k", variants=("v",), written=1.0)


@pytest.mark.parametrize(
    ("work", "of_dram", "memory_s", "ratio", "model"),
    [
        (READ, 0.5, 0.001, None, 1.0),
        (READ, 1.0, 0.001, None, 1.0),
        (READ, 2.0, 0.25, 0.25, 0.25),  # 2 GB are read in one second
        (READ, 2.0, 1.0, 1.0, 1.0),
        (READ, 2.0, 5.0, 5.0, 1.0),
        (BOTH, 2.0, 0.75, 0.25, 0.25),  # and written in two more
        (BOTH, 8.0, 6.0, 2.0, 1.0),
    ],
)
def test_model_is_ratio_of_work_and_transfers(
    work: Work, of_dram: float, memory_s: float, ratio: float | None, model: float
) -> None:
    found = balance(work, of_dram, memory_s, 2e9, DEVICE)
    assert found == (ratio if ratio is None else pytest.approx(ratio))
    cell = Cell(
        work="w",
        threads=1,
        dram_ratio=of_dram,
        intensity=1.0,
        memory_s=(memory_s,),
        tier_s=(memory_s,),
        balance_ratio=found,
    )
    assert cell.model == pytest.approx(model)


def test_model_of_polynomial_follows_intensity() -> None:
    """I / I*, with I* = F / BW for reading, F (1 / BW_read + 1 / BW_write) for both."""
    flops, items = 100e9, 1e8
    for degree in (1, 16, 64, 256, 1024):
        intensity = 2 * degree / 8
        memory_s = 2 * degree * items / flops
        read = balance(POLYNOMIALS[0], 4.0, memory_s, 8 * items, DEVICE)
        assert read == pytest.approx(intensity / (flops / DEVICE.read))
        # The output is a separate array, which is fetched before it is overwritten.
        both = balance(POLYNOMIALS[1], 4.0, memory_s, 16 * items, DEVICE)
        roof = flops * (2 / DEVICE.read + 1 / DEVICE.write)
        assert both == pytest.approx(intensity / roof)


def test_efficiency_is_median_of_rounds() -> None:
    cell = Cell(
        work="w",
        threads=2,
        dram_ratio=2.0,
        intensity=1.0,
        memory_s=(1.0, 2.0, 9.0),
        tier_s=(2.0, 2.5, 10.0),
    )
    assert cell.efficiency == pytest.approx(0.8)


def cell(work: str, of_dram: float, intensity: float, tier_s: float, threads: int = 2) -> Cell:
    return Cell(
        work=work,
        threads=threads,
        dram_ratio=of_dram,
        intensity=intensity,
        memory_s=(1.0,),
        tier_s=(tier_s,),
        balance_ratio=0.5,
    )


def test_heatmap_has_shaded_box_for_each_cell() -> None:
    cells = [
        cell(POLYNOMIALS[0].name, 0.5, 0.25, 1.0),
        cell(POLYNOMIALS[0].name, 2.0, 0.25, 10.0),
        cell(OTHER_WORKS[0].name, 2.0, 0.1, 4.0),
    ]
    svg = heatmap_svg(cells, DEVICE, 1 << 30)
    texts = [e.text for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("text")]
    assert {"100", "10", "25", "50", "0.5 times DRAM", "STREAM triad"} <= set(texts)
    shades = re.findall(r'class="f-heat-(\d)"', svg)
    assert sorted(shades) == ["0", "5", "6"]
    assert "Efficiencies of 3 cells, from 10 to 100 per cent" in svg


def test_heatmap_of_single_cell_is_drawn() -> None:
    svg = heatmap_svg([cell(OTHER_WORKS[0].name, 0.5, 0.1, 0.001)], DEVICE, 1 << 20)
    assert "100000" in svg


def test_heatmap_has_panel_for_each_thread_count() -> None:
    cells = [cell(OTHER_WORKS[0].name, 0.5, 0.1, 1.0, threads) for threads in (1, 2)]
    svg = heatmap_svg(cells, DEVICE, 1 << 20)
    assert svg.index("other programs, 1 thread<") < svg.index("other programs, 2 threads<")
    assert "threads<" not in heatmap_svg(cells[:1], DEVICE, 1 << 20)


def test_workload_names_are_unique() -> None:
    names = [one.name for one in (*POLYNOMIALS, *OTHER_WORKS)]
    assert len(set(names)) == len(names)
