"""Studies that go from boot to boot, with a machine that only remembers how it was booted."""

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
from assay.study.session import StudyResult, begin, resume

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


def test_a_comparison_goes_from_boot_to_boot_and_decides(store: Store) -> None:
    host = Host("quiet", SLOW)
    rng = random.Random(1)
    host.walls = lambda host, _: (2.0 if SLOW in host.words else 1.0) * rng.uniform(0.99, 1.01)
    pauses: list[BootPause] = []
    spec = comparing({}, {MITIGATIONS: "off"})
    result = driven(host, store, spec, pauses.append)
    [claim] = result.conclusion.claims
    assert claim.verdict is Verdict.FASTER
    assert claim.applications
    assert result.spec.pausing == {MITIGATIONS: "auto"}

    samples = confirmed(store, result)
    boots: dict[tuple[int, str], set[str | None]] = {}
    for sample in samples:
        launch = sample.launch
        boots.setdefault((launch.block, launch.arm), set()).add(boot_of(sample))
    # One boot for each application, and no boot for two of them.
    assert all(len(found) == 1 for found in boots.values())
    assert len({next(iter(found)) for found in boots.values()}) == len(boots) >= 12
    assert result.conclusion.switching is not None
    assert result.conclusion.switching.boots == host.boots
    # What is to be changed is told, or that nothing is.
    for pause in pauses:
        change = pause.change
        assert change.anew == (not change.add and not change.remove)
        assert not change.unbrought


def test_each_arm_is_warmed_up_in_each_boot(store: Store) -> None:
    host = Host("quiet")
    driven(host, store, comparing({}, {MITIGATIONS: "off"}, {MITIGATIONS: "off", "nice": 5}))
    launched = len(host.launched)
    samples = store.samples(store.studies()[0].id, 0)
    applied = {(s.launch.arm, boot_of(s)) for s in samples if s.launch.stage is Stage.CONFIRM}
    looked = {(s.launch.arm, boot_of(s)) for s in samples if s.launch.stage is Stage.SURVEY}
    assert launched - len(samples) == len(applied - looked)
    assert sum(launch.block < 0 for launch in host.launched) == launched - len(samples)
    # Arms that share a boot run in one.
    shared = {s.launch.block: {} for s in samples if s.launch.stage is Stage.CONFIRM}
    for s in samples:
        if s.launch.stage is Stage.CONFIRM and MITIGATIONS in s.launch.configuration:
            shared[s.launch.block].setdefault(boot_of(s), set()).add(s.launch.arm)
    assert all(len(found) == 1 for found in shared.values())


def test_without_a_warm_up_there_is_none(store: Store) -> None:
    host = Host("quiet")
    driven(host, store, comparing({}, {MITIGATIONS: "off"}, warmup=0))
    assert all(launch.block >= 0 for launch in host.launched)


def test_a_boot_that_did_not_bring_it_is_told(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({}, {MITIGATIONS: "off"})
    with pytest.raises(BootPause) as first:
        begin(host.laboratory(), store, spec, QUIET)
    study = first.value.study_id
    for _ in range(2):  # looking again in the same boot is no boot
        with pytest.raises(BootPause) as again:
            resume(host.laboratory(), store, study, QUIET, new_stratum=False)
        assert not again.value.change.unbrought
    host.again()
    with pytest.raises(BootPause) as brought:
        resume(host.laboratory(), store, study, QUIET, new_stratum=False)
    if first.value.change.add:
        assert brought.value.change.unbrought
        assert brought.value.change.missing == (
            "/proc/cmdline has no mitigations, not mitigations=off",
        )


def test_what_the_argument_is_known_to_change_is_no_hindrance(store: Store) -> None:
    host = Host("quiet")

    def boots(pause: BootPause) -> None:
        isolated = bool(pause.change.words)
        host.found = {ISOLATED: "1" if isolated else ""}
        host.state.pop("cpu.isolated", None)
        host.state |= {"cpu.isolated": "1"} if isolated else {}

    host.found = {ISOLATED: ""}
    result = driven(host, store, comparing({}, {"boot.isolcpus": 1}), boots)
    assert any("cpu.isolated 1" in note for note in result.notes)


def test_what_an_unknown_argument_changes_is_no_hindrance_but_told(store: Store) -> None:
    host = Host("quiet")

    def boots(pause: BootPause) -> None:
        host.state["thp.enabled"] = "never" if pause.change.words else "madvise"

    result = driven(host, store, comparing({}, {"boot.foo": "bar"}), boots)
    [note] = [note for note in result.notes if "other readings" in note]
    assert note.startswith("with boot.foo=bar, other readings differ")
    assert "thp.enabled never" in note


@pytest.mark.parametrize("visit", [1, 3])
def test_what_else_changed_is_refused(store: Store, visit: int) -> None:
    """At the first boot what the argument cannot have done, later all that was otherwise before."""
    host = Host("quiet")
    count = 0

    def boots(pause: BootPause) -> None:
        nonlocal count
        count += 1
        if count == visit:
            host.state["vm.swappiness"] = "1"

    with pytest.raises(NotPossibleError, match=r"vm.swappiness: not there then, 1 now"):
        driven(host, store, comparing({}, {MITIGATIONS: "off"}), boots)


def test_a_boot_of_the_same_values_has_to_read_as_the_first_did(store: Store) -> None:
    host = Host("quiet")
    count = 0

    def boots(pause: BootPause) -> None:
        nonlocal count
        if pause.change.words:
            count += 1
            host.state["thp.enabled"] = "never" if count < 3 else "always"
        else:
            host.state["thp.enabled"] = "madvise"

    with pytest.raises(NotPossibleError, match=r"thp.enabled: never then, always now"):
        driven(host, store, comparing({}, {"boot.foo": "bar"}), boots)


def test_a_sweep_looks_at_the_cells_of_the_present_boot_first(store: Store) -> None:
    host = Host("quiet")
    cells = ({MITIGATIONS: "off", "nice": 0}, {MITIGATIONS: "absent", "nice": 0})
    spec = comparing(*cells, {**cells[0], "nice": 5}, {**cells[1], "nice": 5})
    design = Design(kind=DesignKind.GRID, repeats=2)
    spec = msgspec.structs.replace(spec, kind=Kind.SWEEP, design=design)
    result = driven(host, store, spec)
    samples = store.samples(result.study_id, 0)
    looks = [s.launch for s in samples if s.launch.stage is Stage.SURVEY]
    assert [s.configuration[MITIGATIONS] for s in looks] == ["absent", "absent"]
    assert result.conclusion.blocks == 2
    assert host.boots <= 5


def test_a_search_goes_from_boot_to_boot_too(store: Store) -> None:
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


def test_a_setting_that_all_arms_share_takes_one_boot(store: Store) -> None:
    host = Host("quiet")
    shared = {MITIGATIONS: "off"}
    driven(host, store, comparing({**shared, "nice": 0}, {**shared, "nice": 5}))
    assert host.boots == 2


def test_launches_in_one_boot_leave_room_for_the_blocks(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({}, {MITIGATIONS: "off"}, budget=Budget(launches=60))
    result = driven(host, store, spec)
    assert result.conclusion.blocks >= 6
    samples = confirmed(store, result)
    assert max(s.launch.position for s in samples) == 3  # two of each arm


def test_the_firmware_is_what_the_topology_shows(store: Store) -> None:
    host = Host("quiet")
    host.cpus = 4

    def boots(pause: BootPause) -> None:
        host.nodes = int(pause.change.firmware.get("snc", host.nodes))

    result = driven(host, store, comparing({"firmware.snc": 1}, {"firmware.snc": 2}), boots)
    assert result.conclusion.blocks >= 6


@pytest.mark.rotating
def test_a_firmware_that_nobody_can_read_is_confirmed(store: Store) -> None:
    told: dict[str, str] = {}

    def boots(pause: BootPause) -> None:
        assert pause.change.confirm == ("firmware.fan",)
        told["firmware.fan"] = str(pause.change.settings["firmware.fan"])

    machine = Host.machine.fget  # type: ignore[attr-defined]

    class Told(Host):
        @property
        def machine(self) -> Machine:
            found: Machine = machine(self)
            boot = msgspec.structs.replace(found.boot, said=dict(told))
            return msgspec.structs.replace(found, boot=boot)

    spec = comparing({"firmware.fan": "low"}, {"firmware.fan": "high"})
    result = driven(Told("quiet"), store, spec, boots)
    assert result.conclusion.blocks >= 6


def test_a_firmware_cannot_change_within_a_boot(store: Store) -> None:
    host = Host("quiet")
    spec = comparing({"firmware.fan": "low"}, {"firmware.fan": "high"})
    lab = with_firmware_values(host.laboratory(), spec, {"firmware.fan": "low"})
    with pytest.raises(BootPause) as pause:
        begin(lab, store, spec, QUIET)
    lab = with_firmware_values(host.laboratory(), spec, {"firmware.fan": "high"})
    with pytest.raises(NotPossibleError, match="was low when this very boot made its last launch"):
        resume(lab, store, pause.value.study_id, QUIET, new_stratum=False)


def test_what_an_arm_leaves_alone_must_be_known(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="nobody can read what it is"):
        begin(Host().laboratory(), store, comparing({}, {"firmware.fan": "low"}), QUIET)
    assert store.studies() == []


def test_files_and_commands_tell_the_firmware(tmp_path: Path) -> None:
    lab = Host().laboratory()
    file = tmp_path / "fan"
    file.write_text("low\n")
    spec = comparing({}, {}, verify={"firmware.fan": str(file), "firmware.boost": "!echo  on"})
    boot = with_firmware_values(lab, spec, {}).machine.boot
    assert boot.said == {"firmware.fan": "low", "firmware.boost": "on"}
    assert boot.witnesses["firmware.boost"] == "echo  on"
    for source, told in (
        (str(tmp_path / "none"), "cannot be read"),
        ("!false", "ended with 1"),
        ("!no-such-program", "failed"),
    ):
        wrong = comparing({}, {}, verify={"firmware.fan": source})
        with pytest.raises(NotPossibleError, match=told):
            with_firmware_values(lab, wrong, {})
    for name in ("nice", "firmware.nps", "boot.quiet"):
        with pytest.raises(InvalidInputError, match="nobody has to say"):
            with_firmware_values(lab, spec, {name: "x"})


def test_what_is_asked_is_asked_once_in_a_sitting(tmp_path: Path, store: Store) -> None:
    asked = tmp_path / "asked"
    command = f"!sh -c {shlex.quote(f'echo >> {shlex.quote(str(asked))}; echo low')}"
    cells = ({"firmware.fan": "low"}, {"firmware.fan": "high"})
    spec = comparing(*cells, verify={"firmware.fan": command})
    lab = with_firmware_values(Host("quiet").laboratory(), spec, {})
    with pytest.raises(BootPause) as pause:
        begin(lab, store, spec, QUIET)
    assert pause.value.change.missing == (f"{command[1:]} says low, not high",)
    assert len(asked.read_text()) == 1


def test_what_is_asked_cannot_be_said_as_well(tmp_path: Path) -> None:
    spec = comparing({}, {}, verify={"firmware.fan": "!echo low"})
    with pytest.raises(InvalidInputError, match="this study asks echo low for it"):
        with_firmware_values(Host().laboratory(), spec, {"firmware.fan": "high"})


def test_a_host_that_does_not_tell_its_boots_apart_is_refused(store: Store) -> None:
    lab = Host().laboratory()
    machine = msgspec.structs.replace(lab.machine, boot=Boot())
    lab = Laboratory(machine=machine, registry=lab.registry, driver=lab.driver)
    with pytest.raises(NotPossibleError, match="does not tell its boots apart"):
        begin(lab, store, comparing({}, {MITIGATIONS: "off"}), QUIET)


def test_what_a_boot_has_by_another_spelling_takes_no_boot(store: Store) -> None:
    host = Host("quiet", "foo=bar")
    driven(host, store, comparing({"boot.foo": "bar", "nice": 0}, {"nice": 5}))
    assert host.boots == 1


def test_a_value_that_is_kept_as_a_digest_cannot_be_left_alone(store: Store) -> None:
    host = Host("quiet", "foo=secret")
    with pytest.raises(InvalidInputError, match="keeps a digest of its value only"):
        driven(host, store, comparing({}, {"boot.foo": "bar"}))
    assert host.launched == []


def test_a_boot_that_brought_nothing_is_told_also_before_the_first_launch(store: Store) -> None:
    """Else a command that boots, and does it wrong, would boot for ever."""
    host = Host("quiet")
    spec = comparing({MITIGATIONS: "off", "nice": 0}, {MITIGATIONS: "off", "nice": 5})
    with pytest.raises(BootPause) as first:
        begin(host.laboratory(), store, spec, QUIET)
    assert host.launched == []
    assert not first.value.change.unbrought
    host.again()
    with pytest.raises(BootPause) as second:
        resume(host.laboratory(), store, first.value.study_id, QUIET, new_stratum=False)
    assert second.value.change.unbrought
