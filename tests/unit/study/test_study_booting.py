"""Studies across boots of a simulated host."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from booted_hosts import QUIET, Host, comparing, driven

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.document import Boot, Machine
from assay.records import (
    Budget,
    Choices,
    Configuration,
    Design,
    DesignKind,
    Kind,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.store import Store, open_store
from assay.study.booting import BootPause, boot_of
from assay.study.firmware import with_firmware_values
from assay.study.laboratory import Laboratory
from assay.study.result import StudyResult
from assay.study.session import begin, resume

SLOW = "mitigations=auto"
MITIGATIONS = "boot.mitigations"
ISOLATED = "/sys/devices/system/cpu/isolated"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "x.db"), create=True) as opened:
        yield opened


def confirmed(store: Store, result: StudyResult) -> list[Sample]:
    samples = store.samples(result.study_id, 0)
    return [s for s in samples if s.launch.stage is Stage.CONFIRM]


def test_comparison_across_boots_decides(store: Store) -> None:
    host = Host("quiet", SLOW)
    rng = random.Random(1)
    host.walls = lambda host, _: (2.0 if SLOW in host.words else 1.0) * rng.uniform(0.99, 1.01)
    pauses: list[BootPause] = []
    spec = comparing({}, {MITIGATIONS: "off"})
    result = driven(host, store, spec, pauses.append)
    [claim] = result.conclusion.claims
    assert claim.verdict is Verdict.FASTER
    assert claim.applications
    assert result.spec.reboot_settings == {MITIGATIONS: "auto"}

    samples = confirmed(store, result)
    boots: dict[tuple[int, str], set[str | None]] = {}
    for sample in samples:
        launch = sample.launch
        boots.setdefault((launch.block, launch.arm), set()).add(boot_of(sample))
    # One boot for each application, and no boot for two of them.
    assert all(len(found) == 1 for found in boots.values())
    assert len({next(iter(found)) for found in boots.values()}) == len(boots) >= 12
    assert result.conclusion.switching is not None
    assert result.conclusion.switching.boot_count == host.boots
    # The pause reports the required changes, or that there are none.
    for pause in pauses:
        change = pause.change
        assert change.repeat_boot == (not change.add and not change.remove)
        assert not change.missing_after_boot


@pytest.mark.rotating
def test_each_arm_is_warmed_up_in_each_boot(store: Store) -> None:
    host = Host("quiet")
    driven(host, store, comparing({}, {MITIGATIONS: "off"}, {MITIGATIONS: "off", "nice": 5}))
    launched = len(host.launched)
    samples = store.samples(store.studies()[0].id, 0)
    applied = {(s.launch.arm, boot_of(s)) for s in samples if s.launch.stage is Stage.CONFIRM}
    surveyed = {(s.launch.arm, boot_of(s)) for s in samples if s.launch.stage is Stage.SURVEY}
    assert launched - len(samples) == len(applied - surveyed)
    assert sum(launch.block < 0 for launch in host.launched) == launched - len(samples)
    # Arms that share a boot run in one.
    shared = {s.launch.block: {} for s in samples if s.launch.stage is Stage.CONFIRM}
    for s in samples:
        if s.launch.stage is Stage.CONFIRM and MITIGATIONS in s.launch.configuration:
            shared[s.launch.block].setdefault(boot_of(s), set()).add(s.launch.arm)
    assert all(len(found) == 1 for found in shared.values())


@pytest.mark.rotating
def test_warm_up_of_zero_disables_warm_up_after_boot(store: Store) -> None:
    host = Host("quiet")
    driven(host, store, comparing({}, {MITIGATIONS: "off"}, warmup=0))
    assert all(launch.block >= 0 for launch in host.launched)


def test_boot_without_required_change_is_reported(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({}, {MITIGATIONS: "off"})
    with pytest.raises(BootPause) as first:
        begin(host.laboratory(), store, spec, QUIET)
    study = first.value.study_id
    for _ in range(2):  # a second attempt in the same boot is not a reboot
        with pytest.raises(BootPause) as again:
            resume(host.laboratory(), store, study, QUIET, new_stratum=False)
        assert not again.value.change.missing_after_boot
    host.again()
    with pytest.raises(BootPause) as brought:
        resume(host.laboratory(), store, study, QUIET, new_stratum=False)
    if first.value.change.add:
        assert brought.value.change.missing_after_boot
        assert brought.value.change.missing == ("/proc/cmdline lacks mitigations=off",)


@pytest.mark.rotating
def test_known_side_effect_of_argument_is_accepted(store: Store) -> None:
    host = Host("quiet")

    def boots(pause: BootPause) -> None:
        isolated = bool(pause.change.required_arguments)
        host.found = {ISOLATED: "1" if isolated else ""}
        host.state.pop("cpu.isolated", None)
        host.state |= {"cpu.isolated": "1"} if isolated else {}

    host.found = {ISOLATED: ""}
    result = driven(host, store, comparing({}, {"boot.isolcpus": 1}), boots)
    assert any("cpu.isolated 1" in note for note in result.notes)


@pytest.mark.rotating
def test_side_effect_of_unknown_argument_is_accepted_and_reported(store: Store) -> None:
    host = Host("quiet")

    def boots(pause: BootPause) -> None:
        host.state["thp.enabled"] = "never" if pause.change.required_arguments else "madvise"

    result = driven(host, store, comparing({}, {"boot.foo": "bar"}), boots)
    [note] = [note for note in result.notes if "other readings" in note]
    assert note.startswith("with boot.foo=bar, other readings differ")
    assert "thp.enabled never" in note


@pytest.mark.parametrize("visit", [1, 3])
def test_other_changes_are_rejected(store: Store, visit: int) -> None:
    """In the first boot: unrelated changes. In later boots: readings unlike those of the first."""
    host = Host("quiet")
    count = 0

    def boots(pause: BootPause) -> None:
        nonlocal count
        count += 1
        if count == visit:
            host.state["vm.swappiness"] = "1"

    with pytest.raises(NotPossibleError, match=r"vm.swappiness: absent then, 1 now"):
        driven(host, store, comparing({}, {MITIGATIONS: "off"}), boots)


def test_boots_with_same_values_must_have_same_readings(store: Store) -> None:
    host = Host("quiet")
    count = 0

    def boots(pause: BootPause) -> None:
        nonlocal count
        if pause.change.required_arguments:
            count += 1
            host.state["thp.enabled"] = "never" if count < 3 else "always"
        else:
            host.state["thp.enabled"] = "madvise"

    with pytest.raises(NotPossibleError, match=r"thp.enabled: never then, always now"):
        driven(host, store, comparing({}, {"boot.foo": "bar"}), boots)


def test_sweep_begins_with_cells_of_present_boot(store: Store) -> None:
    host = Host("quiet")
    cells = ({MITIGATIONS: "off", "nice": 0}, {MITIGATIONS: "absent", "nice": 0})
    spec = comparing(*cells, {**cells[0], "nice": 5}, {**cells[1], "nice": 5})
    design = Design(kind=DesignKind.GRID, repeats=2)
    spec = msgspec.structs.replace(spec, kind=Kind.SWEEP, design=design)
    result = driven(host, store, spec)
    samples = store.samples(result.study_id, 0)
    surveys = [s.launch for s in samples if s.launch.stage is Stage.SURVEY]
    assert [s.configuration[MITIGATIONS] for s in surveys] == ["absent", "absent"]
    assert result.conclusion.blocks == 2
    assert host.boots <= 5


def test_search_continues_across_boots(store: Store) -> None:
    host = Host("quiet")
    rng = random.Random(2)
    host.walls = lambda host, _: (
        (1.0 if "mitigations=off" in host.words else 2.0) * rng.uniform(0.99, 1.01)
    )
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("./app",)),
        budget=Budget(launches=300),
        space=Space(
            parameters=(
                Parameter(name=MITIGATIONS, domain=Choices(("absent", "off")), default="absent"),
            )
        ),
    )
    result = driven(host, store, spec)
    recommendation = result.conclusion.recommendation
    assert recommendation is not None
    assert recommendation.settings == Configuration({MITIGATIONS: "off"})
    assert recommendation.script


def test_setting_shared_by_all_arms_needs_one_boot(store: Store) -> None:
    host = Host("quiet")
    shared = {MITIGATIONS: "off"}
    driven(host, store, comparing({**shared, "nice": 0}, {**shared, "nice": 5}))
    assert host.boots == 2


def test_launches_of_one_boot_reserve_budget_for_blocks(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({}, {MITIGATIONS: "off"}, budget=Budget(launches=60))
    result = driven(host, store, spec)
    assert result.conclusion.blocks >= 6
    samples = confirmed(store, result)
    assert max(s.launch.position for s in samples) == 3  # two of each arm


def test_firmware_setting_is_read_from_topology(store: Store) -> None:
    host = Host("quiet")
    host.cpus = 4

    def boots(pause: BootPause) -> None:
        host.nodes = int(pause.change.firmware.get("snc", host.nodes))

    result = driven(host, store, comparing({"firmware.snc": 1}, {"firmware.snc": 2}), boots)
    assert result.conclusion.blocks >= 6


@pytest.mark.rotating
def test_unreadable_firmware_setting_is_confirmed_by_user(store: Store) -> None:
    told: dict[str, str] = {}

    def boots(pause: BootPause) -> None:
        assert pause.change.unconfirmed == ("firmware.fan",)
        told["firmware.fan"] = str(pause.change.settings["firmware.fan"])

    machine = Host.machine.fget  # type: ignore[attr-defined]

    class Told(Host):
        @property
        def machine(self) -> Machine:
            found: Machine = machine(self)
            boot = msgspec.structs.replace(found.boot, firmware=dict(told))
            return msgspec.structs.replace(found, boot=boot)

    spec = comparing({"firmware.fan": "low"}, {"firmware.fan": "high"})
    result = driven(Told("quiet"), store, spec, boots)
    assert result.conclusion.blocks >= 6


def test_firmware_change_within_boot_is_rejected(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({"firmware.fan": "low"}, {"firmware.fan": "high"})
    lab = with_firmware_values(host.laboratory(), spec, {"firmware.fan": "low"})
    with pytest.raises(BootPause) as pause:
        begin(lab, store, spec, QUIET)
    lab = with_firmware_values(host.laboratory(), spec, {"firmware.fan": "high"})
    with pytest.raises(NotPossibleError, match="was low at the last launch of this boot"):
        resume(lab, store, pause.value.study_id, QUIET, new_stratum=False)


def test_unset_unreadable_setting_is_rejected(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="whose present value cannot be read"):
        begin(Host().laboratory(), store, comparing({}, {"firmware.fan": "low"}), QUIET)
    assert store.studies() == []


def test_firmware_values_are_read_from_files_and_commands(tmp_path: Path) -> None:
    lab = Host().laboratory()
    file = tmp_path / "fan"
    file.write_text("low\n")
    spec = comparing({}, {}, verify={"firmware.fan": str(file), "firmware.boost": "!echo  on"})
    boot = with_firmware_values(lab, spec, {}).machine.boot
    assert boot.firmware == {"firmware.fan": "low", "firmware.boost": "on"}
    assert boot.firmware_sources["firmware.boost"] == "echo  on"
    for source, told in (
        (str(tmp_path / "none"), "Cannot read"),
        ("!false", "exited with status 1"),
        ("!no-such-program", "failed"),
    ):
        wrong = comparing({}, {}, verify={"firmware.fan": source})
        with pytest.raises(NotPossibleError, match=told):
            with_firmware_values(lab, wrong, {})
    for name in ("nice", "firmware.nps", "boot.quiet"):
        with pytest.raises(InvalidInputError, match="its value must not be specified"):
            with_firmware_values(lab, spec, {name: "x"})


def test_firmware_source_is_read_once_in_a_session(tmp_path: Path, store: Store) -> None:
    asked = tmp_path / "asked"
    command = f"!sh -c {shlex.quote(f'echo >> {shlex.quote(str(asked))}; echo low')}"
    cells = ({"firmware.fan": "low"}, {"firmware.fan": "high"})
    spec = comparing(*cells, verify={"firmware.fan": command})
    lab = with_firmware_values(Host("quiet").laboratory(), spec, {})
    with pytest.raises(BootPause) as pause:
        begin(lab, store, spec, QUIET)
    assert pause.value.change.missing == (f"{command[1:]} reports low, not high",)
    assert len(asked.read_text()) == 1


def test_confirmation_of_verified_setting_is_rejected(tmp_path: Path) -> None:
    spec = comparing({}, {}, verify={"firmware.fan": "!echo low"})
    with pytest.raises(InvalidInputError, match="this study reads it from echo low"):
        with_firmware_values(Host().laboratory(), spec, {"firmware.fan": "high"})


def test_host_without_boot_id_is_rejected(store: Store) -> None:
    lab = Host().laboratory()
    machine = msgspec.structs.replace(lab.machine, boot=Boot())
    lab = Laboratory(machine=machine, registry=lab.registry, driver=lab.driver)
    with pytest.raises(NotPossibleError, match="cannot be distinguished"):
        begin(lab, store, comparing({}, {MITIGATIONS: "off"}), QUIET)


def test_equivalent_spelling_needs_no_boot(store: Store) -> None:
    host = Host("quiet", "foo=bar")
    driven(host, store, comparing({"boot.foo": "bar", "nice": 0}, {"nice": 5}))
    assert host.boots == 1


def test_unset_value_stored_as_digest_is_rejected(store: Store) -> None:
    host = Host("quiet", "foo=secret")
    with pytest.raises(InvalidInputError, match="stores only a digest"):
        driven(host, store, comparing({}, {"boot.foo": "bar"}))
    assert host.launched == []


def test_ineffective_boot_is_reported_before_first_launch(store: Store) -> None:
    """Otherwise a faulty reboot command would be repeated without end."""
    host = Host("quiet")
    spec = comparing({MITIGATIONS: "off", "nice": 0}, {MITIGATIONS: "off", "nice": 5})
    with pytest.raises(BootPause) as first:
        begin(host.laboratory(), store, spec, QUIET)
    assert host.launched == []
    assert not first.value.change.missing_after_boot
    host.again()
    with pytest.raises(BootPause) as second:
        resume(host.laboratory(), store, first.value.study_id, QUIET, new_stratum=False)
    assert second.value.change.missing_after_boot
