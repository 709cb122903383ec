"""Studies that vary the kernel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from booted_hosts import QUIET, Host, comparing, driven

from assay.errors import NotPossibleError
from assay.records import Stage, Status, Verdict
from assay.settings.boot.kernel import RELEASE
from assay.store import Store, open_store
from assay.study.booting import BootPause, boot_of
from assay.study.firmware import with_firmware_values
from assay.study.session import begin, resume

KERNEL = "boot.kernel"
OLD, NEW, THIRD = "6.1.0", "6.12.117", "6.18.1"
CONFIGS = {
    OLD: {"HZ": "250", "NO_HZ_FULL": "n", "PREEMPT": "n", "LRU_GEN_ENABLED": "n"},
    NEW: {"HZ": "1000", "NO_HZ_FULL": "y", "PREEMPT": "n", "PER_VMA_LOCK": "y", "SCHED_CORE": "n"},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "x.db"), create=True) as opened:
        yield opened


class Kernels(Host):
    """Host with two kernels that differ in state and configuration."""

    def __init__(self) -> None:
        super().__init__("quiet")
        self.configs = CONFIGS
        self.started = 0
        rng = random.Random(1)
        self.walls = lambda host, _: (1.0 if host.kernel == NEW else 2.0) * rng.uniform(0.99, 1.01)

    def again(self) -> None:
        super().again()
        self.started += 1
        newer = self.kernel != OLD
        self.state["thp.enabled"] = "always" if newer else "madvise"
        # pid_max is another number in each boot: no difference of the kernels.
        self.found = {"/proc/sys/kernel/pid_max": str(4000 + self.started), RELEASE: self.kernel}


def test_kernels_are_compared_over_separate_boots(store: Store) -> None:
    host = Kernels()
    pauses: list[BootPause] = []
    result = driven(host, store, comparing({}, {KERNEL: NEW}), pauses.append)
    [claim] = result.conclusion.claims
    assert (claim.verdict, claim.applications) == (Verdict.FASTER, True)
    assert result.spec.reboot_settings == {KERNEL: OLD}
    samples = [s for s in store.samples(result.study_id, 0) if s.launch.stage is Stage.CONFIRM]
    boots = {(s.launch.block, s.launch.arm): boot_of(s) for s in samples}
    assert len(set(boots.values())) == len(boots) >= 12
    assert all(pause.change.kernel in (OLD, NEW) for pause in pauses)
    assert all(
        (pause.change.running_kernel is None) == pause.change.repeat_boot for pause in pauses
    )


def test_differences_of_kernels_are_listed(store: Store) -> None:
    host = Kernels()
    result = driven(host, store, comparing({}, {KERNEL: NEW}))
    found = result.conclusion.kernels
    assert found is not None
    assert found.releases == (OLD, NEW)
    assert found.unreadable_releases == ()
    assert [(one.name, one.values) for one in found.differences] == [
        ("thp.enabled", ("madvise", "always")),
        ("CONFIG_HZ", ("250", "1000")),
        ("CONFIG_NO_HZ_FULL", ("n", "y")),
        ("CONFIG_PER_VMA_LOCK", (None, "y")),
    ]
    # Listed apart, and not once more as a note.
    assert not any("thp.enabled" in note for note in result.notes)


def test_unreadable_kernel_configuration_is_reported_and_not_compared(store: Store) -> None:
    host = Kernels()
    host.configs = {NEW: CONFIGS[NEW]}
    result = driven(host, store, comparing({}, {KERNEL: NEW}))
    found = result.conclusion.kernels
    assert found is not None
    assert found.unreadable_releases == (OLD,)
    assert not any(one.name.startswith("CONFIG_") for one in found.differences)


def test_unrequested_kernel_is_rejected(store: Store) -> None:
    host = Kernels()

    def boots(pause: BootPause) -> None:
        host.kernel = THIRD

    with pytest.raises(NotPossibleError, match=f"the kernel: {OLD} then, {THIRD} now"):
        driven(host, store, comparing({}, {"boot.foo": "bar"}), boots)


def paused(host: Host, store: Store) -> BootPause:
    """Return the pause of a study that needs the new kernel for its next launch."""
    with pytest.raises(BootPause) as pause:
        begin(host.laboratory(), store, comparing({KERNEL: NEW}, {KERNEL: NEW, "nice": 5}), QUIET)
    return pause.value


@pytest.mark.parametrize("runs", [OLD, THIRD])
def test_kernel_that_fails_to_boot_is_reported_and_not_replaced(store: Store, runs: str) -> None:
    host = Kernels()
    first = paused(host, store)
    assert (first.change.kernel, first.change.running_kernel) == (NEW, OLD)
    assert not first.change.missing_after_boot
    host.kernel = runs
    host.again()
    with pytest.raises(BootPause) as again:
        resume(host.laboratory(), store, first.study_id, QUIET, new_stratum=False)
    change = again.value.change
    assert (change.kernel, change.running_kernel, change.missing_after_boot) == (NEW, runs, True)
    assert change.missing == (f"uname -r prints {runs}, not {NEW}",)
    assert host.launched == []
    assert store.study(first.study_id).status is Status.PAUSED


def test_kernel_that_crashes_during_launches_is_not_booted_again(store: Store) -> None:
    """It crashed after one launch, and the boot loader started the old kernel."""
    host = Kernels()
    first = paused(host, store)
    host.boot(first.change)
    died = 2

    def walls(_: Host, __: object) -> float:
        if len(host.launched) >= died:
            raise KeyboardInterrupt
        return 1.0

    host.walls = walls
    with pytest.raises(KeyboardInterrupt):
        resume(host.laboratory(), store, first.study_id, QUIET, new_stratum=False)
    host.kernel = OLD
    host.again()
    with pytest.raises(BootPause) as again:
        resume(host.laboratory(), store, first.study_id, QUIET, new_stratum=False)
    assert again.value.change.missing_after_boot
    assert len(host.launched) == died


def test_named_kernel_is_verified_by_file(store: Store, tmp_path: Path) -> None:
    host = Kernels()
    flavour = tmp_path / "flavour"
    flavour.write_text("linux\n")
    spec = comparing({"firmware.kernel": "linux"}, {"firmware.kernel": "mos"})
    spec = msgspec.structs.replace(spec, verify={"firmware.kernel": str(flavour)})

    def boots(pause: BootPause) -> None:
        wanted = str(pause.change.settings["firmware.kernel"])
        flavour.write_text(f"{wanted}\n")
        host.kernel = {"linux": OLD, "mos": NEW}[wanted]

    laboratory = host.laboratory
    host.laboratory = lambda: with_firmware_values(laboratory(), spec, {})  # type: ignore[method-assign]
    result = driven(host, store, spec, boots)
    assert result.conclusion.blocks >= 6
    assert result.conclusion.kernels is not None
    assert result.conclusion.kernels.releases == (OLD, NEW)


def test_named_kernel_must_be_same_in_all_boots(store: Store, tmp_path: Path) -> None:
    host = Kernels()
    flavour = tmp_path / "flavour"
    flavour.write_text("linux\n")
    spec = comparing({"firmware.kernel": "linux"}, {"firmware.kernel": "mos"})
    spec = msgspec.structs.replace(spec, verify={"firmware.kernel": str(flavour)})
    seen: list[str] = []

    def boots(pause: BootPause) -> None:
        wanted = str(pause.change.settings["firmware.kernel"])
        flavour.write_text(f"{wanted}\n")
        seen.append(wanted)
        host.kernel = OLD if wanted == "linux" else NEW if seen.count("mos") < 3 else THIRD

    with pytest.raises(NotPossibleError, match=f"the kernel: {NEW} then, {THIRD} now"):
        driven(host, store, spec, boots)
