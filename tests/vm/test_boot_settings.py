"""A study of a boot argument, whose launches run in a guest that is really rebooted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from assay.errors import NotPossibleError
from assay.records import (
    Arm,
    Budget,
    Configuration,
    Design,
    DesignKind,
    GrantStatus,
    Kind,
    Metric,
    Sample,
    Stage,
    Status,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.store import open_store
from assay.study.booting import boot_of
from assay.study.listener import Listener
from assay.study.session import begin

from .booted_study import Bench, Silent
from .guest import Guest
from .rebooted import RebootedGuest

pytestmark = pytest.mark.vm

SETTING = "boot.isolcpus"
MOST_BOOTS = 12
SCRIPT = "echo isolated: $(grep -c 1 /sys/devices/system/cpu/isolated); spin 0.05 0"
ISOLATED = Metric(name="isolated", pattern="isolated: ([01])")


def a_sweep() -> StudySpec:
    """Run a study with two boots of each value, and check the figures of both."""
    values = ("absent", "1")
    return StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("sh", "-c", SCRIPT), metrics=(WALL, ISOLATED)),
        budget=Budget(time_s=600.0, launches=48),  # two launches in each boot
        arms=tuple(
            Arm(name=f"{SETTING}={value}", configuration=Configuration({SETTING: number}))
            for value, number in zip(values, ("absent", 1), strict=True)
        ),
        design=Design(kind=DesignKind.GRID, repeats=2),
        disturbed_above=None,
        pad_environment=False,
    )


@pytest.fixture
def bench(
    guest_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    assay_exec: Path,
    tmp_path: Path,
) -> Iterator[Bench]:
    files = {**guest_programs, "/bin/assay-exec": assay_exec}
    guest = Guest(cpus=2, memory_mib=384, kernel=guest_kernel)
    with (
        RebootedGuest(guest, files) as booted,
        open_store(str(tmp_path / "x.db"), create=True) as store,
    ):
        yield Bench(booted, store, tmp_path)


@pytest.mark.rotating("guests")
def test_study_boots_each_argument(bench: Bench) -> None:
    bench.guest.boot("")
    spec, listener = a_sweep(), cast(Listener, Silent())
    result = bench.until_pause(lambda: begin(bench.laboratory(), bench.store, spec, listener))
    assert result is None
    assert bench.store.study(bench.study_id).status is Status.PAUSED

    # A reboot without the requested argument: it is reported, and the study waits again.
    wanted = next((c for c in bench.changes if c.add), None)
    while result is None and wanted is None and len(bench.changes) < MOST_BOOTS:
        bench.guest.boot("")
        result = bench.resume()
        wanted = next((c for c in bench.changes if c.add), None)
    assert wanted is not None
    assert wanted.add == ("isolcpus=1",)
    assert not wanted.missing_after_boot
    bench.guest.boot("")
    assert bench.resume() is None
    again = bench.changes[-1]
    assert again.missing_after_boot
    assert again.missing == ("/proc/cmdline lacks isolcpus=1",)

    while result is None and len(bench.changes) < MOST_BOOTS:
        bench.guest.boot(" ".join(bench.changes[-1].required_arguments))
        result = bench.resume()
    assert result is not None
    assert result.conclusion.blocks == 2
    samples = [s for s in bench.store.samples(bench.study_id, 0) if s.launch.stage is Stage.CONFIRM]
    _every_launch_ran_in_its_boot(samples)
    _each_application_is_a_boot_of_its_own(samples)
    switching = result.conclusion.switching
    assert switching is not None
    assert switching.boot_count == len({boot_of(s) for s in bench.store.samples(bench.study_id, 0)})
    # The study began in a boot without isolated CPUs; later boots are read differently.
    message = [note for note in result.conclusion.notes if "cpu.isolated 1" in note]
    assert len(message) == 1, result.conclusion.notes


def _every_launch_ran_in_its_boot(samples: list[Sample]) -> None:
    for sample in samples:
        grant = sample.settings[SETTING]
        assert grant.status is GrantStatus.GRANTED, sample
        assert "/sys/devices/system/cpu/isolated" in (grant.observed or "")
        # The program itself counts the isolated CPUs.
        assert sample.metrics["isolated"] == (sample.launch.configuration[SETTING] == 1)


def _each_application_is_a_boot_of_its_own(samples: list[Sample]) -> None:
    applications = {(s.launch.block, s.launch.arm, boot_of(s)) for s in samples}
    assert len(applications) == 4
    assert len({boot for _, _, boot in applications}) == 4


def test_changed_kernel_is_refused(bench: Bench) -> None:
    bench.guest.boot("")
    spec, listener = a_sweep(), cast(Listener, Silent())
    bench.until_pause(lambda: begin(bench.laboratory(), bench.store, spec, listener))
    bench.guest.boot(
        " ".join((*bench.changes[-1].required_arguments, "transparent_hugepage=never"))
    )
    with pytest.raises(NotPossibleError, match="cannot be pooled") as caught:
        bench.resume()
    always = "tsc=unstable"  # of all guests
    changed = f"boot: {always} then, transparent_hugepage=never {always} now"
    assert changed in caught.value.cause
    assert "isol" not in caught.value.cause


def test_ineffective_argument_is_reported(bench: Bench) -> None:
    """isolcpus of a missing CPU: the argument is present, and no CPU is isolated."""
    bench.guest.boot("nohz_full=1 nohz=off")
    machine = bench.machine
    plan = bench.laboratory().plan(Configuration({"boot.nohz_full": 1}))
    text = machine.boot.files.get("/sys/devices/system/cpu/nohz_full")
    if text == "1":
        assert not plan.pending
    else:
        assert "nohz_full=1 is set, but" in (plan.pending["boot.nohz_full"].reason or "")
