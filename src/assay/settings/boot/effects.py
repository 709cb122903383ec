"""Files that show the effect of a boot argument, and its side effects.

Source: ``Documentation/admin-guide/kernel-parameters.txt`` and its references for each argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.boot import argument_name, normalised_name
from assay.machine.boot_state import (
    ADDRESS_RANDOMISATION,
    CLOCK_SOURCE,
    CPU,
    PREEMPT,
    VULNERABILITIES,
    parameter_file,
)
from assay.machine.checks.boot_lists import cpus_of, flags_of
from assay.machine.cpulist import format_list, parse_list, parse_mask
from assay.machine.document import Machine
from assay.machine.tunables import IRQS, KERNEL, THP, VM
from assay.machine.value_formats import normalised
from assay.settings.boot.common import ABSENT, ANY_READING, PRESENT, FileEvidence, file_text

Effect = Callable[[str, Machine], FileEvidence | None]
"""Return the evidence for a value of an argument; ``None`` if no file shows it."""

_LISTS = frozenset({"irqaffinity", "isolcpus", "nohz_full", "rcu_nocbs"})
"""Arguments whose value is a list of CPUs."""
_NONE = ("", "(null)", "(none)")
"""Empty lists in files: the kernel prints ``(null)`` for a mask that was never allocated."""
_BOOT_CPU = 0
"""Linux numbers CPUs from the boot CPU."""
_CPUS = ("the usable CPUs", "the machine", "cpu.smt", "CPU limit")
_FREQUENCY = ("cpu.driver", "cpu.governor", "cpu.epp", "cpu.boost", "cpu.no_turbo")


@dataclass(frozen=True)
class ArgumentInfo:
    """Known properties of a boot argument.

    Attributes:
        effect: reads the evidence; ``None`` if only the command line shows the argument.
        changes: readings of the machine that it may change, named as in ``study resume``.
    """

    effect: Effect | None = None
    changes: tuple[str, ...] = ()


def argument_info(name: str) -> ArgumentInfo:
    """Return the properties of an argument; an unknown one may change any reading."""
    found = _KNOWN.get(normalised_name(name))
    if found is not None:
        return found
    path = parameter_file(name)
    return ArgumentInfo(None if path is None else _parameter(path), (ANY_READING,))


def is_verifiable(name: str) -> bool:
    """Return whether a file shows the effect of an argument."""
    return argument_info(name).effect is not None


def impossible_reason(name: str, value: str, machine: Machine) -> str | None:
    """Return why no boot of the machine can have a value; ``None`` if it is possible.

    The kernel ignores invalid lists and CPUs that do not exist. A number of huge pages after
    ``hugepagesz`` applies to pages of that size.
    """
    if normalised_name(name) == "hugepages" and _names_sizes(machine):
        return (
            "hugepagesz on the command line selects the page size; name the pool, such as"
            " boot.hugepages.2M"
        )
    if normalised_name(name) not in _LISTS or value in (ABSENT, PRESENT):
        return None
    possible = _possible(machine)
    try:
        named = cpus_of(value, max(possible, default=0))
    except InvalidInputError:
        return f"{name}={value} is not a list of CPUs"
    if not named <= possible:
        return f"the machine has CPUs {format_list(possible)}, not {value}"
    return None


def _names_sizes(machine: Machine) -> bool:
    return any(argument_name(word) == "hugepagesz" for word in machine.boot.arguments)


def _possible(machine: Machine) -> frozenset[int]:
    held = file_text(machine, f"{CPU}/possible")
    return frozenset(parse_list(held) if held else (cpu.id for cpu in machine.cpus))


def _cpu_file(path: str, wanted: frozenset[int], machine: Machine) -> FileEvidence:
    text = file_text(machine, path)
    held = "" if text is None or text in _NONE else text
    try:
        fits = frozenset(parse_list(held)) == wanted
    except InvalidInputError:
        fits = False
    return FileEvidence(path, text, fits and (text is not None or not wanted), _list(wanted))


def _list(cpus: frozenset[int]) -> str:
    return repr(format_list(cpus)) if cpus else "an empty list"


def _named(value: str, machine: Machine) -> frozenset[int]:
    """Return the CPUs of a value that the machine can have."""
    possible = _possible(machine)
    if value in (ABSENT, PRESENT):
        return frozenset()
    return cpus_of(value, max(possible, default=0)) & possible


def _nohz_full(value: str, machine: Machine) -> FileEvidence | None:
    return _cpu_file(f"{CPU}/nohz_full", _named(value, machine), machine)


def _isolcpus(value: str, machine: Machine) -> FileEvidence | None:
    domain = value != ABSENT and "domain" in flags_of(value)
    wanted = _named(value, machine) if domain else frozenset()
    return _cpu_file(f"{CPU}/isolated", wanted, machine)


def _irqaffinity(value: str, machine: Machine) -> FileEvidence | None:
    """Return evidence from the default mask.

    The kernel adds the boot CPU to the mask, and all CPUs without the argument. A mask of all CPUs
    in both cases is no evidence.
    """
    path = f"{IRQS}/default_smp_affinity"
    text = file_text(machine, path)
    if value == ABSENT or text is None:
        return None
    wanted, possible = _named(value, machine), _possible(machine)
    with_boot = (wanted | {_BOOT_CPU}) & possible
    held = frozenset(parse_mask(text)) & possible
    if held == with_boot == possible:
        return None
    expected = f"CPUs {_list(wanted)}"
    if with_boot != wanted:
        expected += f", with or without the boot CPU {_BOOT_CPU}"
    return FileEvidence(path, text, held in (wanted, with_boot), expected)


def _mitigations(value: str, machine: Machine) -> FileEvidence | None:
    """With ``off`` no mitigation is active; the effect of other values depends on the processor."""
    path = f"{VULNERABILITIES}/spectre_v2"
    text = file_text(machine, path)
    if value != "off" or text is None:
        return None
    return FileEvidence(path, text, not text.startswith("Mitigation"), "without a mitigation")


def _nosmt(value: str, machine: Machine) -> FileEvidence | None:
    path = f"{CPU}/smt/control"
    text = file_text(machine, path)
    if text is None or text in ("notsupported", "notimplemented"):
        return None
    if value == ABSENT:
        return FileEvidence(path, text, text != "forceoff", "'on'")
    wanted = ("forceoff",) if value == "force" else ("off", "forceoff")
    return FileEvidence(path, text, text in wanted, repr(wanted[0]))


def _count(path: str) -> Effect:
    """Return the check of an upper bound on the CPUs of a list."""

    def effect(value: str, machine: Machine) -> FileEvidence | None:
        text = file_text(machine, path)
        if not value.isdecimal() or text is None:
            return None
        most = max(1, int(value))
        return FileEvidence(path, text, len(parse_list(text)) <= most, f"at most {most} CPUs")

    return effect


def _file_effect(path: str, words: dict[str, str] | None = None, form: str = "text") -> Effect:
    """Return the check of a file with the value, or with a text for the value."""

    def effect(value: str, machine: Machine) -> FileEvidence | None:
        text = file_text(machine, path)
        wanted = value if words is None else words.get(value)
        if wanted is None or text is None or value in (ABSENT, *(() if words else (PRESENT,))):
            return None
        held = normalised("choice", text) if form == "choice" else text
        return FileEvidence(path, text, held == wanted, repr(wanted))

    return effect


def _preempt(value: str, machine: Machine) -> FileEvidence | None:
    """Read the active mode, which is in parentheses; only root can read debugfs."""
    text = file_text(machine, PREEMPT)
    if value == ABSENT or text is None:
        return None
    return FileEvidence(PREEMPT, text, f"({value})" in text, f"'({value})'")


_SWITCHES = {"Y": "1", "N": "0", "on": "1", "off": "0", "y": "1", "n": "0"}


def _parameter(path: str) -> Effect:
    """Return the check of a module parameter, which shows switches as Y and N."""

    def effect(value: str, machine: Machine) -> FileEvidence | None:
        text = file_text(machine, path)
        if text is None or value == ABSENT:
            return None
        wanted = "1" if value == PRESENT else value
        fits = _SWITCHES.get(text, text) == _SWITCHES.get(wanted, wanted) or f"[{wanted}]" in text
        return FileEvidence(path, text, fits, repr(wanted))

    return effect


_PSTATE = {"active": "active", "passive": "passive", "disable": "off", "guided": "guided"}
_KNOWN: dict[str, ArgumentInfo] = {
    "nohz_full": ArgumentInfo(_nohz_full),
    "isolcpus": ArgumentInfo(_isolcpus, ("cpu.isolated", *_CPUS)),
    "rcu_nocbs": ArgumentInfo(),
    "rcu_nocb_poll": ArgumentInfo(),
    "irqaffinity": ArgumentInfo(_irqaffinity),
    "mitigations": ArgumentInfo(_mitigations, _CPUS),
    "nosmt": ArgumentInfo(_nosmt, _CPUS),
    "maxcpus": ArgumentInfo(_count(f"{CPU}/online"), _CPUS),
    "nr_cpus": ArgumentInfo(_count(f"{CPU}/possible"), _CPUS),
    "mem": ArgumentInfo(None, ("the machine", "memory limit")),
    "transparent_hugepage": ArgumentInfo(
        _file_effect(f"{THP}/enabled", form="choice"), ("thp.enabled", "thp.sizes")
    ),
    "thp_anon": ArgumentInfo(None, ("thp.sizes",)),
    "thp_shmem": ArgumentInfo(None, ("thp.shmem", "thp.sizes")),
    "hugepages": ArgumentInfo(_file_effect(f"{VM}/nr_hugepages"), ("memory limit",)),
    "hugepagesz": ArgumentInfo(),
    "default_hugepagesz": ArgumentInfo(),
    "numa_balancing": ArgumentInfo(
        _file_effect(f"{KERNEL}/numa_balancing", {"enable": "1", "disable": "0"}),
        ("kernel.numa_balancing",),
    ),
    "clocksource": ArgumentInfo(_file_effect(CLOCK_SOURCE), ("clocksource",)),
    "tsc": ArgumentInfo(None, ("clocksource",)),
    "intel_pstate": ArgumentInfo(_file_effect(f"{CPU}/intel_pstate/status", _PSTATE), _FREQUENCY),
    "amd_pstate": ArgumentInfo(_file_effect(f"{CPU}/amd_pstate/status", _PSTATE), _FREQUENCY),
    "cpufreq.default_governor": ArgumentInfo(None, _FREQUENCY),
    "idle": ArgumentInfo(None, ("clocksource",)),
    "intel_idle.max_cstate": ArgumentInfo(
        _parameter("/sys/module/intel_idle/parameters/max_cstate"), ("clocksource",)
    ),
    "processor.max_cstate": ArgumentInfo(
        _parameter("/sys/module/processor/parameters/max_cstate"), ("clocksource",)
    ),
    "cpuidle.off": ArgumentInfo(_parameter("/sys/module/cpuidle/parameters/off")),
    "nmi_watchdog": ArgumentInfo(_file_effect(f"{KERNEL}/nmi_watchdog", {"0": "0", "1": "1"})),
    "nowatchdog": ArgumentInfo(_file_effect(f"{KERNEL}/watchdog", {PRESENT: "0"})),
    "nosoftlockup": ArgumentInfo(_file_effect(f"{KERNEL}/soft_watchdog", {PRESENT: "0"})),
    "norandmaps": ArgumentInfo(
        _file_effect(ADDRESS_RANDOMISATION, {PRESENT: "0"}), ("kernel.randomize_va_space",)
    ),
    "nokaslr": ArgumentInfo(),
    "noautogroup": ArgumentInfo(None, ("kernel.autogroup",)),
    "preempt": ArgumentInfo(_preempt),
    "skew_tick": ArgumentInfo(),
    "threadirqs": ArgumentInfo(),
    "psi": ArgumentInfo(),
    "audit": ArgumentInfo(),
    "zswap.enabled": ArgumentInfo(
        _parameter("/sys/module/zswap/parameters/enabled"), ("zswap.enabled",)
    ),
}
