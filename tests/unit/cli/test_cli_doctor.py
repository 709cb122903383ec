"""The words of `assay doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.cli.show.overhead import overhead_lines, summary_lines
from assay.cli.verbs import doctor
from assay.cli.verbs.doctor import (
    _containment,
    _lines,
    _listed,
    _settings,
    _store_facts,
    _StoreFacts,
)
from assay.launch.driver import Driver
from assay.machine.document import Cpu, Machine, Node, Rights
from assay.records.overhead import Cost, ObservedCost
from assay.settings.registry import builtin
from assay.store import Store, open_store
from assay.study.laboratory import Laboratory
from assay.testing.store_contracts import make_overhead


def told(cpus: int, nice_floor: int = 0, size_bytes: int | None = None) -> list[str]:
    """Return the output for a machine and a user without rights."""
    machine = Machine(
        arch="x86_64",
        kernel="6.1.0",
        kernel_version=(6, 1),
        model="test",
        cpus=tuple(Cpu(id=i, core=i, siblings=(i,)) for i in range(cpus)),
        allowed_cpus=tuple(range(cpus)),
        nodes=(Node(id=0, cpus=tuple(range(cpus)), memory_bytes=2**33),),
        rights=Rights(uid=1000, min_nice=nice_floor, nice=nice_floor),
    )
    lab = Laboratory(machine, builtin(), Driver(Path("/bin/true"), {}))
    return list(_lines(lab, {}, dict(_settings(lab)), _StoreFacts("kept.db", size_bytes)))


def test_one_of_a_kind_is_one() -> None:
    text = "\n".join(told(cpus=1))
    assert "0 usable of 1: 1 core, 1 NUMA node" in text
    assert "the count 1, or a list" in text
    assert "1 CPUs" not in text and "1 cores" not in text


def test_store_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = str(tmp_path / "assay.db"), []
    with open_store(path) as store:
        store.add_overhead(make_overhead("here", 1.0))

    def counted(db: str | None, *, create: bool) -> Store:
        opened.append(db)
        return open_store(db, create=create)

    monkeypatch.setattr(doctor, "open_store", counted)
    facts = _store_facts(path, "here")
    assert opened == [path]
    assert facts.size_bytes and facts.overheads == (make_overhead("here", 1.0),)
    assert _store_facts(str(tmp_path / "none.db"), "here").size_bytes is None


def test_size_of_a_large_store_is_shown_with_the_next_step() -> None:
    small, large = ("\n".join(told(1, size_bytes=size)) for size in (10**9, 3 * 2**30))
    assert "kept.db\n" in small and "study compact" not in small
    assert "kept.db (3.00 GiB)" in large
    assert "assay study compact" in large and "assay study prune" in large


def test_refused_value_leaves_all_others_of_long_range() -> None:
    lines = told(4)
    at = next(i for i, line in enumerate(lines) if line.startswith("threads.torch.intra "))
    assert lines[at].endswith("granted: 1..256")
    assert "refused: 0: PyTorch requires a positive count" in lines[at + 1]


def test_several_are_several() -> None:
    text = "\n".join(told(cpus=4))
    assert "0-3 usable of 4: 4 cores, 1 NUMA node" in text
    assert "a count from 1 to 4, or a list" in text


def test_numbers_in_a_row_are_a_range() -> None:
    (nice,) = (line for line in told(2) if line.startswith("nice"))
    assert nice.split("granted: ")[1] == "0..19"
    (refused,) = (line for line in told(2) if "permitted" in line)
    assert refused.strip().startswith(
        "refused: -20..-1: the lowest permitted value here is 0. Run as root"
    )


def test_a_reason_keeps_the_numbers_that_are_not_its_value() -> None:
    (refused,) = (line for line in told(2, nice_floor=10) if "permitted" in line)
    assert "refused: -20..9: the lowest permitted value here is 10." in refused
    assert "limits.conf(5)" in refused


def test_containment_names_the_reason_why_it_is_incomplete() -> None:
    assert _containment({"cgroup": {"guarantee": "complete"}}) == (
        "assay can end every process of a launch"
    )
    assert _containment({"cgroup": {"reason": "no groups"}}) == (
        "assay may miss processes that a launch leaves behind (no groups)"
    )


def test_lists_of_values() -> None:
    assert _listed(["0", "1", "2", "3"]) == "0..3"
    assert _listed(["-2", "-1", "0", "4", "5"]) == "-2..0, 4, 5"
    assert _listed(["glibc", "jemalloc"]) == "glibc, jemalloc"
    assert _listed([]) == ""


def test_cost_above_limit_is_marked() -> None:
    costs = (observed("memory", 0.001, 0.004), observed("readback", 0.006, 0.02))
    found = make_overhead("this", 0.0)
    lines = list(summary_lines(replace(found, costs=costs)))
    assert lines[0].startswith("measured 1970-01-01 by assay")
    assert lines[1] == "memory    +0.2 % (+0.1 to +0.4) of spin"
    figure = "+1.3 % (+0.6 to +2.0) of spin"
    assert lines[2] == f"readback  {figure}; too costly (wall {figure})"


def test_mark_tells_the_figure_that_shows_it() -> None:
    much = Cost(share=0.02, low=0.01, high=0.03)
    costs = (replace(observed("memory", -0.01, 0.01), cpu=much),)
    lines = list(summary_lines(replace(make_overhead("this", 0.0, "./app"), costs=costs)))
    assert "(`assay study calibrate --overhead -- ./app`)" in lines[0]
    assert lines[1].endswith(
        "too costly: off in launches that count (cpu +2.0 % (+1.0 to +3.0) of spin)"
    )


def test_table_of_costs_lists_observations_that_were_not_measured() -> None:
    lines = list(overhead_lines(make_overhead("this", 0.0)))
    assert "median of 20 pairs" in lines[0]
    assert lines[-1] == "  not measured: counters: this machine does not have this counter"
    assert any("memory" in line and "50.0 ms" in line for line in lines)


@pytest.mark.parametrize(("others", "told"), [(None, False), (0.03, False), (0.31, True)])
def test_table_of_costs_tells_of_others(others: float | None, told: bool) -> None:
    lines = list(overhead_lines(replace(make_overhead("this", 0.0), other_load=others)))
    assert any("Other processes used 31 % of the CPUs" in line for line in lines) == told


def observed(name: str, low: float, high: float) -> ObservedCost:
    """Return a cost in wall time with this interval."""
    cost = Cost(share=(low + high) / 2, low=low, high=high)
    return replace(make_overhead("this", 0.0).costs[0], observation=name, wall=cost)
