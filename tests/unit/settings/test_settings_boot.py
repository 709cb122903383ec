"""Settings of the boot and the firmware: present values, required changes, and evidence."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.errors import InvalidInputError, NotPossibleError
from assay.launch.planner import plan
from assay.launch.script import explain, shell_script
from assay.machine.boot import digested_argument, is_digest
from assay.machine.boot_state import read_boot
from assay.machine.document import Boot, Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import (
    Configuration,
    GrantStatus,
    Level,
    Prospect,
    RunFacts,
    Scope,
    Value,
    Workload,
    decode,
    encode,
)
from assay.settings.base import Pending, Refused, Resolved
from assay.settings.boot import as_reboot_setting, effects
from assay.settings.registry import builtin

from .hosts import machine as a_host

CPU = "/sys/devices/system/cpu"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
IRQS = "/proc/irq/default_smp_affinity"
FLAW = f"{CPU}/vulnerabilities/spectre_v2"
GIANT = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
FOUR = {f"{CPU}/online": "0-3", f"{CPU}/possible": "0-3", f"{CPU}/present": "0-3"}
WORKLOAD = Workload(argv=("./app",))
RAN = RunFacts(outcome="exited")


def booted(folder: Path, line: str, files: dict[str, str] | None = None) -> Machine:
    """Return a host of four CPUs with this command line and these files."""
    texts = {**FOUR, "/proc/cmdline": line, "/proc/sys/kernel/random/boot_id": "x", **(files or {})}
    for path, text in texts.items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return read_machine(Root(folder))


def words(*line: str) -> Machine:
    """Return a host with only a command line."""
    return msgspec.structs.replace(
        a_host(), boot=Boot(arguments=tuple(map(digested_argument, line)))
    )


def pending(machine: Machine, name: str, value: Value) -> Pending:
    answer = builtin().get(name).resolve(Configuration({name: value}), machine)
    assert isinstance(answer, Pending), answer
    return answer


@pytest.mark.parametrize(
    ("name", "value", "line", "files"),
    [
        ("boot.mitigations", "off", "mitigations=off", {FLAW: "Vulnerable; IBPB: disabled"}),
        ("boot.mitigations", "absent", "quiet", {FLAW: "Mitigation: Retpolines"}),
        ("boot.nohz_full", "2-3", "nohz_full=2-3", {f"{CPU}/nohz_full": "2-3"}),
        ("boot.nohz_full", "2-N", "nohz_full=2-N", {f"{CPU}/nohz_full": "2-3"}),
        ("boot.nohz_full", "absent", "quiet", {f"{CPU}/nohz_full": "(null)"}),
        ("boot.irqaffinity", "0-1", "irqaffinity=0-1", {IRQS: "3"}),
        ("boot.irqaffinity", 1, "irqaffinity=1", {IRQS: "00000000,00000003"}),
        ("boot.irqaffinity", 1, "irqaffinity=1", {IRQS: "2"}),
        ("boot.isolcpus", "domain,1", "isolcpus=domain,1", {f"{CPU}/isolated": "1"}),
        ("boot.isolcpus", "managed_irq,1", "isolcpus=managed_irq,1", {f"{CPU}/isolated": ""}),
        ("boot.isolcpus", 1, "isolcpus=1", {f"{CPU}/isolated": "1"}),
        (
            "boot.transparent_hugepage",
            "never",
            "transparent_hugepage=never",
            {THP: "always madvise [never]"},
        ),
        ("boot.nosmt", "present", "nosmt", {f"{CPU}/smt/control": "off"}),
        ("boot.nosmt", "force", "nosmt=force", {f"{CPU}/smt/control": "forceoff"}),
        ("boot.nosmt", "present", "nosmt", {f"{CPU}/smt/control": "notsupported"}),
        ("boot.maxcpus", 4, "maxcpus=4", {}),
        ("boot.hugepages.1G", 4, "hugepagesz=1G hugepages=4", {GIANT: "4"}),
        ("boot.hugepages.1G", 4, "hugepages=9 hugepagesz=1024m hugepages=4", {GIANT: "4"}),
        ("boot.hugepages.1G", "absent", "hugepagesz=2M hugepages=4", {GIANT: "0"}),
        (
            "boot.zswap.enabled",
            1,
            "zswap.enabled=1",
            {"/sys/module/zswap/parameters/enabled": "Y"},
        ),
        (
            "boot.intel_idle.max_cstate",
            1,
            "intel_idle.max_cstate=1",
            {"/sys/module/intel_idle/parameters/max_cstate": "1"},
        ),
    ],
)
def test_active_argument_is_granted_with_evidence(
    tmp_path: Path, name: str, value: Value, line: str, files: dict[str, str]
) -> None:
    found = plan(Configuration({name: value}), booted(tmp_path, line, files), builtin())
    setting = next(iter(found.settings))
    assert not found.pending, found.pending
    grant = builtin().get(setting).judge(found.configuration, RAN, found)
    assert grant.status is GrantStatus.GRANTED


@pytest.mark.parametrize(
    ("name", "value", "line", "files", "told"),
    [
        ("boot.mitigations", "off", "mitigations=off", {FLAW: "Mitigation: IBRS"}, "'Mitigation"),
        ("boot.nohz_full", "2-3", "nohz_full=2-3", {}, "nohz_full is missing, not '2-3'"),
        ("boot.nohz_full", 1, "nohz_full=1", {f"{CPU}/nohz_full": ""}, "reads '', not '1'"),
        ("boot.isolcpus", "1-2", "isolcpus=1-2", {f"{CPU}/isolated": "1"}, "reads '1', not '1-2'"),
        (
            "boot.transparent_hugepage",
            "always",
            "transparent_hugepage=always",
            {THP: "always [madvise] never"},
            "reads 'always [madvise] never', not 'always'",
        ),
        ("boot.nosmt", "present", "nosmt", {f"{CPU}/smt/control": "on"}, "reads 'on', not 'off'"),
        ("boot.irqaffinity", "0-1", "irqaffinity=0-1", {IRQS: "f"}, "reads 'f', not CPUs '0-1'"),
        ("boot.irqaffinity", 1, "irqaffinity=1", {IRQS: "ffffffff"}, "CPUs '1', with or without"),
        ("boot.irqaffinity", 1, "irqaffinity=1", {IRQS: "6"}, "reads '6', not CPUs '1'"),
        ("boot.maxcpus", 2, "maxcpus=2", {}, "reads '0-3', not at most 2 CPUs"),
        (
            "boot.hugepages.1G",
            4,
            "hugepagesz=1G hugepages=4",
            {GIANT: "3"},
            "reads '3', not at least 4",
        ),
    ],
)
def test_argument_without_effect_is_pending(
    tmp_path: Path, name: str, value: Value, line: str, files: dict[str, str], told: str
) -> None:
    found = pending(booted(tmp_path, line, files), name, value)
    assert "is set, but" in found.missing
    assert told in found.missing
    assert (found.add, found.remove) == ((), ())


@pytest.mark.parametrize(
    ("name", "value", "line", "add", "remove"),
    [
        (
            "boot.mitigations",
            "off",
            "quiet mitigations=auto",
            ("mitigations=off",),
            ("mitigations=auto",),
        ),
        ("boot.mitigations", "absent", "mitigations=off", (), ("mitigations=off",)),
        ("boot.nosmt", "present", "quiet", ("nosmt",), ()),
        ("boot.nosmt", "present", "nosmt=force", ("nosmt",), ("nosmt=force",)),
        ("boot.rcu_nocbs", 1, "rcu-nocbs=2", ("rcu_nocbs=1",), ("rcu-nocbs=2",)),
        ("boot.isolcpus", 1, "isolcpus=1 isolcpus=2", (), ("isolcpus=2",)),
        ("boot.hugepages.1G", 4, "quiet", ("hugepagesz=1G hugepages=4",), ()),
        (
            "boot.hugepages.1G",
            "absent",
            "hugepagesz=1G hugepages=2",
            (),
            ("hugepagesz=1G hugepages=2",),
        ),
        (
            "boot.console",
            "tty0 ttyS0",
            "console=ttyS0 console=tty0",
            ("console=tty0", "console=ttyS0"),
            ("console=*", "console=*"),
        ),
    ],
)
def test_pending_lists_required_change(
    name: str, value: Value, line: str, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    found = pending(words(*line.split()), name, value)
    assert found.add == add
    # Hidden values are digests.
    assert tuple(w[: w.index("*") + 1] if "*" in w else w for w in found.remove) == remove


def test_hugepages_without_size_are_refused_beside_sizes() -> None:
    setting = builtin().get("boot.hugepages")
    configuration = Configuration({"boot.hugepages": 4})
    answer = setting.resolve(configuration, words("hugepagesz=1G", "hugepages=4"))
    assert isinstance(answer, Refused)
    assert "boot.hugepages.2M" in answer.reason
    assert isinstance(setting.resolve(configuration, words("hugepages=4")), Resolved | Pending)


def test_words_after_two_dashes_belong_to_init(tmp_path: Path) -> None:
    machine = booted(tmp_path, "quiet -- mitigations=off")
    assert builtin().get("boot.mitigations").default(machine) == "absent"


NAMES = st.sampled_from(["nosmt", "mitigations", "isolcpus", "secret.key", "quiet", "foo_bar"])
VALUES = st.sampled_from(["", "=off", "=auto,nosmt", "=1", "=2", "=x=y"])
LINES = st.lists(st.tuples(NAMES | st.just("foo-bar"), VALUES).map("".join), max_size=6)


@given(line=LINES, name=NAMES)
def test_default_equals_present_boot(line: list[str], name: str) -> None:
    machine = words(*line)
    setting = builtin().get(f"boot.{name}")
    now = setting.default(machine)
    assert now is not None
    assume(not is_digest(str(now)))
    answer = setting.resolve(Configuration({setting.name: now}), machine)
    assert not (isinstance(answer, Pending) and (answer.add or answer.remove)), (line, now, answer)


@given(line=LINES, name=NAMES, value=st.sampled_from(["absent", "present", "off", 1, "1 2", "x=y"]))
def test_applying_pending_change_satisfies_setting(
    line: list[str], name: str, value: Value
) -> None:
    setting = builtin().get(f"boot.{name}")
    configuration = Configuration({setting.name: value})
    answer = setting.resolve(configuration, words(*line))
    if not isinstance(answer, Pending):
        return
    left = [word for word in line if digested_argument(word) not in answer.remove]
    changed = setting.resolve(configuration, words(*left, *answer.add))
    assert not (isinstance(changed, Pending) and (changed.add or changed.remove)), changed


def test_secrets_of_command_line_are_not_stored(tmp_path: Path) -> None:
    machine = booted(tmp_path, "quiet luks.key=hunter2 mitigations=off")
    assert b"hunter2" not in encode(machine)
    assert machine.boot.arguments[::2] == ("quiet", "mitigations=off")
    configuration = Configuration({"boot.luks.key": "hunter2"})
    assert not plan(configuration, machine, builtin()).pending
    assert plan(configuration.having("boot.luks.key", "hunter3"), machine, builtin()).pending


@pytest.mark.parametrize("line", ["luks.key=hunter2", "luks.key=hunter2 luks.key=hunter3"])
def test_digest_is_rejected_as_value(line: str) -> None:
    machine = words(*line.split())
    digest = builtin().get("boot.luks.key").default(machine)
    assert digest is not None
    with pytest.raises(InvalidInputError, match="is the digest that assay stores"):
        plan(Configuration({"boot.luks.key": digest}), machine, builtin())


def test_boots_are_distinguished_by_digest(tmp_path: Path) -> None:
    one = read_boot(Root(tmp_path))
    assert one.id is None
    first = booted(tmp_path, "quiet").boot
    (tmp_path / "proc/sys/kernel/random/boot_id").write_text("y\n")
    second = read_boot(Root(tmp_path))
    assert first.id is not None
    assert first.id != second.id
    machine = booted(tmp_path, "quiet")
    assert decode(encode(machine), Machine).boot == machine.boot


def test_plan_with_pending_boot_is_never_launched() -> None:
    found = plan(Configuration({"boot.mitigations": "off", "nice": 5}), words("quiet"), builtin())
    assert found.settings["boot.mitigations"].status is Prospect.PENDING
    assert not found.impossible
    with pytest.raises(
        NotPossibleError, match="requires another boot: /proc/cmdline lacks mitigations"
    ):
        found.demand_booted()
    assert "# Requires a boot with boot.mitigations=off." in shell_script(found, WORKLOAD)
    assert "[pending]" in explain(found, WORKLOAD, {})


def test_refused_value_may_be_granted_after_boot() -> None:
    config = Configuration({"boot.mitigations": "off", "vm.swappiness": 10})
    found = plan(config, words("quiet"), builtin())
    assert found.refused
    assert found.pending
    assert not found.impossible
    assert plan(config, words("mitigations=off"), builtin()).impossible


def test_script_names_required_boot() -> None:
    found = plan(Configuration({"boot.nosmt": "present"}), words("nosmt"), builtin())
    line = "# Requires a boot with nosmt on the kernel's command line."
    assert line in shell_script(found, WORKLOAD)


def test_readings_at_launch_decide(tmp_path: Path) -> None:
    line, files = "transparent_hugepage=never", {THP: "always madvise [never]"}
    config = Configuration({"boot.transparent_hugepage": "never"})
    found = plan(config, booted(tmp_path, line, files), builtin())
    setting = builtin().get("boot.transparent_hugepage")
    assert found.boot_files == (THP,)
    same = RunFacts(outcome="exited", system_files={THP: "always madvise [never]"})
    assert setting.judge(config, same, found).level is Level.SEEN
    for facts in (
        RunFacts(outcome="exited", system_files={THP: "[always] madvise never"}),
        RunFacts(
            outcome="exited",
            system_files=same.system_files,
            changed_system_files={THP: "[always] x"},
        ),
    ):
        grant = setting.judge(config, facts, found)
        assert grant.status is GrantStatus.DEGRADED
        assert "at the launch" in (grant.reason or "")


def test_command_line_alone_is_level_set() -> None:
    config = Configuration({"boot.skew_tick": 1})
    found = plan(config, words("skew_tick=1"), builtin())
    setting = builtin().get("boot.skew_tick")
    assert setting.judge(config, RAN, found).level is Level.SET
    assert setting.evidence is Level.SET
    assert builtin().get("boot.nohz_full").evidence is Level.SEEN


@pytest.mark.parametrize(
    "name",
    [
        "boot.a=b",
        "boot.a b",
        "boot.1",
        "boot.ä",
        "firmware.a.b",
        "boot.hugepages.1Q",
        "boot.hugepages.0K",
    ],
)
def test_invalid_argument_names_are_rejected(name: str) -> None:
    with pytest.raises(InvalidInputError):
        builtin().get(name)


@pytest.mark.parametrize(("value", "mask"), [("0-3", "f"), ("1-3", "f"), ("1-3", "ff")])
def test_mask_of_all_cpus_is_no_evidence(tmp_path: Path, value: str, mask: str) -> None:
    """The kernel uses it without the argument too."""
    machine = booted(tmp_path, f"irqaffinity={value}", {IRQS: mask})
    config = Configuration({"boot.irqaffinity": value})
    found = plan(config, machine, builtin())
    assert builtin().get("boot.irqaffinity").judge(config, RAN, found).level is Level.SET
    found = plan(config, booted(tmp_path, f"irqaffinity={value}", {IRQS: "e"}), builtin())
    assert bool(found.pending) == (value == "0-3")


@pytest.mark.parametrize(
    ("name", "intended"),
    [
        ("boot.mitigatoins", "boot.mitigations"),
        ("boot.nohz_ful", "boot.nohz_full"),
        ("boot.isolcups", "boot.isolcpus"),
        ("boot.intel_idel.max_cstate", "boot.intel_idle.max_cstate"),
    ],
)
def test_misspelt_argument_is_refused_with_known_name(name: str, intended: str) -> None:
    with pytest.raises(InvalidInputError, match="Unknown boot argument") as caught:
        builtin().get(name)
    assert caught.value.remedy == f"Did you mean {intended}?"


@pytest.mark.parametrize(
    "argument",
    ["nospectre_bhb", "spectre_bhi", "nosmp", "slab_merge", "panic_on_warn", "usb_storage.quirks"],
)
def test_argument_outside_of_table_is_accepted(argument: str) -> None:
    assert builtin().get(f"boot.{argument}").name == f"boot.{argument}"


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("boot.nohz-full", "boot.nohz_full"),
        ("boot.usb-storage.delay-use", "boot.usb_storage.delay_use"),
        ("boot.hugepages.1g", "boot.hugepages.1G"),
        ("boot.hugepages.2048K", "boot.hugepages.2M"),
        ("boot.hugepages.1024m", "boot.hugepages.1G"),
    ],
)
def test_each_argument_has_one_spelling(name: str, one: str) -> None:
    """Two settings of one word could not both have their values in one boot."""
    with pytest.raises(InvalidInputError, match="has a second spelling") as refused:
        builtin().get(name)
    assert refused.value.remedy == f"Write {one}."
    assert builtin().get(one).name == one


@pytest.mark.parametrize("value", ["", " ", 'a"b', "a'b", "a\nb"])
def test_invalid_argument_values_are_rejected(value: str) -> None:
    setting = builtin().get("boot.foo")
    with pytest.raises(InvalidInputError, match="Invalid value of a boot argument"):
        setting.resolve(Configuration({"boot.foo": value}), words())


@pytest.mark.parametrize(
    ("value", "told"),
    [("2-x", "is not a list of CPUs"), ("2-7", "the machine has CPUs 0-3, not 2-7")],
)
@pytest.mark.parametrize("name", ["nohz_full", "isolcpus", "rcu_nocbs"])
def test_impossible_cpus_are_refused(tmp_path: Path, name: str, value: str, told: str) -> None:
    """On the command line or not: no reboot is requested without effect."""
    for line in (f"{name}={value}", "quiet"):
        found = plan(Configuration({f"boot.{name}": value}), booted(tmp_path, line), builtin())
        assert told in (found.refused[f"boot.{name}"].reason or "")


@pytest.mark.parametrize(
    ("name", "shape", "value"),
    [
        ("firmware.nps", {"packages": 2, "nodes": 2}, 2),
        ("firmware.snc", {"packages": 1, "nodes": 1}, 1),
        ("firmware.nps", {"packages": 2, "nodes": 4}, 4),
        ("firmware.smt", {"smt": 2}, "on"),
        ("firmware.memory", {}, "cache"),
    ],
)
def test_topology_shows_firmware_setting(name: str, shape: dict[str, int], value: Value) -> None:
    machine = a_host(**shape)
    setting = builtin().get(name)
    assert setting.default(machine) == value
    config = Configuration({name: value})
    found = plan(config, machine, builtin())
    assert not found.pending
    assert setting.judge(config, RAN, found).level is Level.SEEN
    assert setting.scope is Scope.FIRMWARE


def test_one_node_over_two_packages_is_nps0() -> None:
    machine = a_host(packages=2)
    whole = msgspec.structs.replace(machine.nodes[0], cpus=tuple(cpu.id for cpu in machine.cpus))
    machine = msgspec.structs.replace(machine, nodes=(whole,))
    assert builtin().get("firmware.nps").default(machine) == 0


def test_high_bandwidth_memory_node_is_flat() -> None:
    machine = a_host(nodes=2)
    kinds = (machine.nodes[0], msgspec.structs.replace(machine.nodes[1], kind="hbm"))
    machine = msgspec.structs.replace(machine, nodes=kinds)
    assert builtin().get("firmware.memory").default(machine) == "flat"


def test_different_firmware_value_is_pending() -> None:
    found = pending(a_host(packages=2), "firmware.snc", 2)
    assert found.missing == "NUMA nodes for each package: 1, not 2"
    assert found.firmware == {"snc": "2"}


def test_unreadable_firmware_uses_stated_value() -> None:
    machine = a_host()
    config = Configuration({"firmware.boost": "low"})
    setting = builtin().get("firmware.boost")
    assert setting.default(machine) is None
    assert pending(machine, "firmware.boost", "low").missing == "no confirmation that it is low"
    said = msgspec.structs.replace(machine, boot=Boot(firmware={"firmware.boost": "low"}))
    found = plan(config, said, builtin())
    assert setting.judge(config, RAN, found).level is Level.SET
    witness = Boot(firmware={"firmware.boost": "low"}, firmware_sources={"firmware.boost": "/x"})
    found = plan(config, msgspec.structs.replace(machine, boot=witness), builtin())
    grant = setting.judge(config, RAN, found)
    assert (grant.level, grant.observed) == (Level.SEEN, "/x reports low")
    assert (
        "/x reports low, not high"
        in pending(msgspec.structs.replace(machine, boot=witness), "firmware.boost", "high").missing
    )


@pytest.mark.parametrize("text", ["firmware.nps=3", "firmware.smt=maybe", "firmware.memory=flot"])
def test_invalid_firmware_values_are_rejected(text: str) -> None:
    name, _, value = text.partition("=")
    with pytest.raises(InvalidInputError, match="Invalid value"):
        builtin().get(name).resolve(Configuration({name: value}), a_host())


@pytest.mark.parametrize("name", effects._KNOWN)
def test_every_known_argument_needs_reboot(name: str) -> None:
    setting = builtin().get(f"boot.{name}")
    assert as_reboot_setting(setting) is not None
    assert setting.switch_cost_s > 0
    absent = Configuration({setting.name: "absent"})
    assert isinstance(setting.resolve(absent, words()), Resolved | Pending)


def test_smt_is_written_only_with_control_file(tmp_path: Path) -> None:
    control = f"{CPU}/smt/control"
    root = {"/proc/self/status": "Uid:\t0\t0\t0\t0\n", "/proc/self/uid_map": "0 0 4294967295"}
    pairs = {f"{CPU}/cpu{n}/topology/core_cpus_list": f"{n % 2},{n % 2 + 2}" for n in range(4)}
    machine = booted(tmp_path, "quiet", {**root, **pairs, control: "on"})
    assert builtin().get("cpu.smt").default(machine) == "on"
    found = plan(Configuration({"cpu.smt": "off", "threads": "cores"}), machine, builtin())
    assert [(a.path, a.value) for a in found.system] == [(control, "off")]  # type: ignore[union-attr]
    masked = plan(Configuration({"cpu.smt": "off", "cpus": "3"}), machine, builtin())
    assert "cpus" in masked.refused, masked.settings
    assert "cpus" not in plan(Configuration({"cpus": "3"}), machine, builtin()).refused
    for text, told in (("forceoff", "nosmt=force"), ("notsupported", "reads notsupported")):
        other = booted(tmp_path, "quiet", {control: text})
        word = plan(Configuration({"cpu.smt": "off"}), other, builtin()).settings["cpu.smt"]
        assert word.status is Prospect.REFUSED
        assert told in (word.reason or "")


RELEASE = "/proc/sys/kernel/osrelease"


def test_running_kernel_is_granted_and_others_are_pending(tmp_path: Path) -> None:
    here = booted(tmp_path, "quiet", {RELEASE: "6.1.0-56-amd64"})
    config = Configuration({"boot.kernel": "6.1.0-56-amd64"})
    found = plan(config, here, builtin())
    grant = builtin().get("boot.kernel").judge(config, RAN, found)
    assert (grant.status, grant.level) == (GrantStatus.GRANTED, Level.SEEN)
    assert found.boot_files == (RELEASE,)
    changed = msgspec.structs.replace(RAN, system_files={RELEASE: "6.12.1"})
    assert builtin().get("boot.kernel").judge(config, changed, found).status is GrantStatus.DEGRADED
    assert builtin().get("boot.kernel").default(here) == "6.1.0-56-amd64"
    other = pending(here, "boot.kernel", "6.12.117+deb12-amd64")
    assert other.missing == "uname -r prints 6.1.0-56-amd64, not 6.12.117+deb12-amd64"
    assert other.running == "6.1.0-56-amd64"
    assert (other.add, other.remove) == ((), ())


@pytest.mark.parametrize("value", ["vmlinuz-6.1.0", "/boot/vmlinuz", "6", "6.1 7", "6.1;x", 6])
def test_invalid_releases_are_rejected(value: Value) -> None:
    with pytest.raises(InvalidInputError, match="Invalid release of a kernel") as refused:
        builtin().get("boot.kernel").resolve(Configuration({"boot.kernel": value}), words())
    assert "release that uname -r prints" in (refused.value.remedy or "")
