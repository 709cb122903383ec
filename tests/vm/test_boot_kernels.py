"""A study of two kernels, whose launches run in a guest that really boots both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from assay.cli.boot_pauses import report_pause
from assay.errors import NotPossibleError
from assay.records import (
    Arm,
    Budget,
    Configuration,
    Design,
    DesignKind,
    GrantStatus,
    Kind,
    Level,
    Metric,
    Stage,
    StudySpec,
    Workload,
)
from assay.records.workload import WALL
from assay.store import open_store
from assay.study.booting import BootPause, boot_of
from assay.study.listener import Listener
from assay.study.result import StudyResult
from assay.study.session import begin, resume

from .booted_study import Bench, Silent
from .guest import Guest, GuestError, UnavailableError, find_config, release_of
from .rebooted import RebootedGuest

pytestmark = pytest.mark.vm

MAX_BOOTS = 12
SETTING = "boot.kernel"
SCRIPT = "uname -r; spin 0.05 0"
MINOR = Metric(name="minor", pattern=r"^6\.([0-9]+)\.")
LOADER = """\
#!/bin/sh
echo "$ASSAY_BOOT_KERNEL" >> {asked}
"""
"""Stand-in for the command that selects the kernel of the next boot."""
BROKEN = "rdinit=/none root=/dev/none"
"""Kernel arguments that cause a panic, as missing drivers do."""


class Unattended(Bench):
    """A guest with two kernels: a command selects the kernel to boot, and a unit resumes."""

    def __init__(self, guest: RebootedGuest, store: object, folder: Path) -> None:
        super().__init__(guest, store, folder)  # type: ignore[arg-type]
        self.kernels: dict[str, Path] = {}
        self.asked = folder / "asked"
        self.asked.touch()
        self.command = folder / "boot-as-asked"
        self.command.write_text(LOADER.format(asked=self.asked))
        self.command.chmod(0o755)

    def step(self, go: Callable[[], StudyResult]) -> StudyResult | None:
        """Continue until the study pauses, and run the command then."""
        try:
            return go()
        except BootPause as pause:
            self.study_id = pause.study_id
            self.changes.append(pause.change)
            report_pause(pause, (str(self.command),), json=False)
            return None

    def go_on(self) -> StudyResult | None:
        """Resume, as the unit does after each boot."""
        lab = self.laboratory()
        quiet = cast(Listener, Silent())
        return self.step(lambda: resume(lab, self.store, self.study_id, quiet, new_stratum=False))

    def boot_as_asked(self) -> str:
        """Boot the kernel selected by the command; return its release."""
        release = self.asked.read_text().split()[-1]
        self.guest.boot("", self.kernels[release])
        return release


def a_sweep(releases: tuple[str, ...]) -> StudySpec:
    """Run a study with two boots of each kernel, and check the figures of both."""
    return StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("sh", "-c", SCRIPT), metrics=(WALL, MINOR)),
        budget=Budget(time_s=600.0, launches=48),  # two launches in each boot
        arms=tuple(
            Arm(name=f"{SETTING}={one}", configuration=Configuration({SETTING: one}))
            for one in releases
        ),
        design=Design(kind=DesignKind.GRID, repeats=2),
        disturbed_above=None,
        pad_environment=False,
    )


@pytest.fixture
def bench(
    guest_kernel: Path,
    newer_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    assay_exec: Path,
    tmp_path: Path,
) -> Iterator[Unattended]:
    kernels = {release_of(image): image for image in (guest_kernel, newer_kernel)}
    if len(kernels) < 2:
        pytest.skip("only one kernel for guests can be had")
    try:
        configs = {f"/boot/{find_config(k).name}": find_config(k) for k in kernels.values()}
    except UnavailableError as missing:
        pytest.skip(str(missing))
    files = {**guest_programs, **configs, "/bin/assay-exec": assay_exec}
    guest = Guest(cpus=2, memory_mib=384, kernel=guest_kernel)
    with (
        RebootedGuest(guest, files) as booted,
        open_store(str(tmp_path / "x.db"), create=True) as store,
    ):
        made = Unattended(booted, store, tmp_path)
        made.kernels = kernels
        yield made


@pytest.mark.rotating("guests")
def test_study_boots_each_kernel_unattended(bench: Unattended) -> None:
    old, new = bench.kernels
    bench.guest.boot("", bench.kernels[old])
    spec, quiet = a_sweep((old, new)), cast(Listener, Silent())
    result = bench.step(lambda: begin(bench.laboratory(), bench.store, spec, quiet))
    while result is None and bench.changes[-1].kernel == old:
        bench.boot_as_asked()
        result = bench.go_on()
    assert result is None
    _falls_back(bench, old, new)

    while result is None and bench.guest.boots < MAX_BOOTS:
        bench.boot_as_asked()
        result = bench.go_on()
    assert result is not None
    assert result.conclusion.blocks == 2
    assert len(bench.store.study(bench.study_id).strata) == 1
    samples = [s for s in bench.store.samples(bench.study_id, 0) if s.launch.stage is Stage.CONFIRM]
    for sample in samples:
        grant = sample.settings[SETTING]
        assert (grant.status, grant.level) == (GrantStatus.GRANTED, Level.SEEN), sample
        asked = str(sample.launch.configuration[SETTING])
        # The program itself reads the kernel that it runs under.
        assert sample.metrics["minor"] == int(asked.split(".")[1])
    boots = {(s.launch.block, s.launch.arm): boot_of(s) for s in samples}
    assert len(boots) == len(set(boots.values())) == 4
    _differences_are_listed(result, old, new)


def _falls_back(bench: Unattended, old: str, new: str) -> None:
    """The new kernel ends in a panic: the old one comes back, and the study waits."""
    change = bench.changes[-1]
    assert (change.kernel, change.running_kernel) == (new, old)
    before = len(bench.store.samples(bench.study_id, 0))
    asked = bench.asked.read_text()
    with pytest.raises(GuestError):
        bench.guest.boot(BROKEN, bench.kernels[new])
    bench.guest.boot("", bench.kernels[old])
    with pytest.raises(NotPossibleError) as refused:
        bench.go_on()
    assert f"uname -r prints {old}, not {new}: {new} did not boot" in refused.value.cause
    assert "assay does not run --reboot-command again" in refused.value.cause
    assert bench.changes[-1].missing_after_boot
    assert bench.asked.read_text() == asked
    assert len(bench.store.samples(bench.study_id, 0)) == before


def _differences_are_listed(result: StudyResult, old: str, new: str) -> None:
    found = result.conclusion.kernels
    assert found is not None
    assert (found.releases, found.unreadable_releases) == ((old, new), ())
    values = {one.name: one.values for one in found.differences}
    # Debian's 6.12 switches on an option that its 6.1 has, and one that it does not know.
    assert values["CONFIG_LRU_GEN_ENABLED"] == ("n", "y")
    assert values["CONFIG_PER_VMA_LOCK"] == (None, "y")
    # Both have these alike, the second under another name.
    assert not values.keys() & {"CONFIG_HZ", "CONFIG_MITIGATION_PAGE_TABLE_ISOLATION"}
