"""Effects: which files show that a boot argument took effect, and what else it changes.

Source: ``Documentation/admin-guide/kernel-parameters.txt`` and what it refers to for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.boot import name_of, plain
from assay.machine.booted import (
    CLOCK,
    CPU,
    FLAWS,
    PREEMPT,
    RANDOMIZE,
    parameter_file,
)
from assay.machine.checks.boot_lists import cpus_of, flags_of
from assay.machine.cpulist import format_list, parse_list, parse_mask
from assay.machine.document import Machine
from assay.machine.forms import reading
from assay.machine.tunables import IRQS, KERNEL, THP, VM
from assay.settings.boot.common import ABSENT, ANY, PRESENT, Proof, text_of

Effect = Callable[[str, Machine], Proof | None]
"""What shows that an argument has this value; ``None`` where nothing would."""

_LISTS = frozenset({"irqaffinity", "isolcpus", "nohz_full", "rcu_nocbs"})
"""Arguments whose value is a list of CPUs."""
_NONE = ("", "(null)", "(none)")
"""How files show an empty list: the kernel prints ``(null)`` for a mask that was never made."""
_BOOT_CPU = 0
"""Linux numbers CPUs from the one that boots on."""
_CPUS = ("the usable CPUs", "the machine", "cpu.smt", "CPU limit")
_FREQUENCY = ("cpu.driver", "cpu.governor", "cpu.epp", "cpu.boost", "cpu.no_turbo")


@dataclass(frozen=True)
class Known:
    """What is known of an argument.

    Attributes:
        effect: what shows it; the command line alone where absent.
        changes: readings of the machine that it may change, by the names that ``study resume`` has.
    """

    effect: Effect | None = None
    changes: tuple[str, ...] = ()


def known(name: str) -> Known:
    """What is known of an argument; of one that is not, it may change any reading."""
    found = _KNOWN.get(plain(name))
    if found is not None:
        return found
    path = parameter_file(name)
    return Known(None if path is None else _parameter(path), (ANY,))


def is_known(name: str) -> bool:
    """Whether files show what an argument did."""
    return known(name).effect is not None


def amiss(name: str, value: str, machine: Machine) -> str | None:
    """Why no boot of a machine could have a value by this name; ``None`` where one could.

    The kernel passes over a list that it cannot read, and over CPUs that are not there. A number of
    huge pages behind ``hugepagesz`` is of pages of that size.
    """
    if plain(name) == "hugepages" and _names_sizes(machine):
        return "hugepagesz on the command line says of which pages: name them, boot.hugepages.2M"
    if plain(name) not in _LISTS or value in (ABSENT, PRESENT):
        return None
    possible = _possible(machine)
    try:
        named = cpus_of(value, max(possible, default=0))
    except InvalidInputError:
        return f"{name}={value} holds no list of CPUs"
    if not named <= possible:
        return f"this machine has CPUs {format_list(possible)}, and not {value}"
    return None


def _names_sizes(machine: Machine) -> bool:
    return any(name_of(word) == "hugepagesz" for word in machine.boot.words)


def _possible(machine: Machine) -> frozenset[int]:
    held = text_of(machine, f"{CPU}/possible")
    return frozenset(parse_list(held) if held else (cpu.id for cpu in machine.cpus))


def _cpu_file(path: str, wanted: frozenset[int], machine: Machine) -> Proof:
    text = text_of(machine, path)
    held = "" if text is None or text in _NONE else text
    try:
        fits = frozenset(parse_list(held)) == wanted
    except InvalidInputError:
        fits = False
    return Proof(path, text, fits and (text is not None or not wanted), _list(wanted))


def _list(cpus: frozenset[int]) -> str:
    return repr(format_list(cpus)) if cpus else "an empty list"


def _named(value: str, machine: Machine) -> frozenset[int]:
    """The CPUs of a value that the machine can have."""
    possible = _possible(machine)
    if value in (ABSENT, PRESENT):
        return frozenset()
    return cpus_of(value, max(possible, default=0)) & possible


def _nohz_full(value: str, machine: Machine) -> Proof | None:
    return _cpu_file(f"{CPU}/nohz_full", _named(value, machine), machine)


def _isolcpus(value: str, machine: Machine) -> Proof | None:
    domain = value != ABSENT and "domain" in flags_of(value)
    wanted = _named(value, machine) if domain else frozenset()
    return _cpu_file(f"{CPU}/isolated", wanted, machine)


def _irqaffinity(value: str, machine: Machine) -> Proof | None:
    """The kernel puts the CPU that boots into the mask, and without the argument all CPUs.

    A mask that comes to all of them with the argument too shows nothing.
    """
    path = f"{IRQS}/default_smp_affinity"
    text = text_of(machine, path)
    if value == ABSENT or text is None:
        return None
    wanted, possible = _named(value, machine), _possible(machine)
    with_boot = (wanted | {_BOOT_CPU}) & possible
    held = frozenset(parse_mask(text)) & possible
    if held == with_boot == possible:
        return None
    told = f"CPUs {_list(wanted)}"
    if with_boot != wanted:
        told += f", with or without CPU {_BOOT_CPU} that boots"
    return Proof(path, text, held in (wanted, with_boot), told)


def _mitigations(value: str, machine: Machine) -> Proof | None:
    """With ``off`` none is in force; what others come to depends on the processor."""
    path = f"{FLAWS}/spectre_v2"
    text = text_of(machine, path)
    if value != "off" or text is None:
        return None
    return Proof(path, text, not text.startswith("Mitigation"), "without a mitigation")


def _nosmt(value: str, machine: Machine) -> Proof | None:
    path = f"{CPU}/smt/control"
    text = text_of(machine, path)
    if text is None or text in ("notsupported", "notimplemented"):
        return None
    if value == ABSENT:
        return Proof(path, text, text != "forceoff", "'on'")
    wanted = ("forceoff",) if value == "force" else ("off", "forceoff")
    return Proof(path, text, text in wanted, repr(wanted[0]))


def _count(path: str) -> Effect:
    """At most so many CPUs in a list."""

    def effect(value: str, machine: Machine) -> Proof | None:
        text = text_of(machine, path)
        if not value.isdecimal() or text is None:
            return None
        most = max(1, int(value))
        return Proof(path, text, len(parse_list(text)) <= most, f"{most} CPUs at most")

    return effect


def _held(path: str, words: dict[str, str] | None = None, form: str = "text") -> Effect:
    """A file that holds the value itself, or what stands for it."""

    def effect(value: str, machine: Machine) -> Proof | None:
        text = text_of(machine, path)
        wanted = value if words is None else words.get(value)
        if wanted is None or text is None or value in (ABSENT, *(() if words else (PRESENT,))):
            return None
        held = reading("choice", text) if form == "choice" else text
        return Proof(path, text, held == wanted, repr(wanted))

    return effect


def _preempt(value: str, machine: Machine) -> Proof | None:
    """The mode in force is in parentheses; debugfs shows it to root alone."""
    text = text_of(machine, PREEMPT)
    if value == ABSENT or text is None:
        return None
    return Proof(PREEMPT, text, f"({value})" in text, f"'({value})'")


_SWITCHES = {"Y": "1", "N": "0", "on": "1", "off": "0", "y": "1", "n": "0"}


def _parameter(path: str) -> Effect:
    """A parameter of a module, which shows switches as Y and N."""

    def effect(value: str, machine: Machine) -> Proof | None:
        text = text_of(machine, path)
        if text is None or value == ABSENT:
            return None
        wanted = "1" if value == PRESENT else value
        fits = _SWITCHES.get(text, text) == _SWITCHES.get(wanted, wanted) or f"[{wanted}]" in text
        return Proof(path, text, fits, repr(wanted))

    return effect


_PSTATE = {"active": "active", "passive": "passive", "disable": "off", "guided": "guided"}
_KNOWN: dict[str, Known] = {
    "nohz_full": Known(_nohz_full),
    "isolcpus": Known(_isolcpus, ("cpu.isolated", *_CPUS)),
    "rcu_nocbs": Known(),
    "rcu_nocb_poll": Known(),
    "irqaffinity": Known(_irqaffinity),
    "mitigations": Known(_mitigations, _CPUS),
    "nosmt": Known(_nosmt, _CPUS),
    "maxcpus": Known(_count(f"{CPU}/online"), _CPUS),
    "nr_cpus": Known(_count(f"{CPU}/possible"), _CPUS),
    "mem": Known(None, ("the machine", "memory limit")),
    "transparent_hugepage": Known(
        _held(f"{THP}/enabled", form="choice"), ("thp.enabled", "thp.sizes")
    ),
    "thp_anon": Known(None, ("thp.sizes",)),
    "thp_shmem": Known(None, ("thp.shmem", "thp.sizes")),
    "hugepages": Known(_held(f"{VM}/nr_hugepages"), ("memory limit",)),
    "hugepagesz": Known(),
    "default_hugepagesz": Known(),
    "numa_balancing": Known(
        _held(f"{KERNEL}/numa_balancing", {"enable": "1", "disable": "0"}),
        ("kernel.numa_balancing",),
    ),
    "clocksource": Known(_held(CLOCK), ("clocksource",)),
    "tsc": Known(None, ("clocksource",)),
    "intel_pstate": Known(_held(f"{CPU}/intel_pstate/status", _PSTATE), _FREQUENCY),
    "amd_pstate": Known(_held(f"{CPU}/amd_pstate/status", _PSTATE), _FREQUENCY),
    "cpufreq.default_governor": Known(None, _FREQUENCY),
    "idle": Known(None, ("clocksource",)),
    "intel_idle.max_cstate": Known(
        _parameter("/sys/module/intel_idle/parameters/max_cstate"), ("clocksource",)
    ),
    "processor.max_cstate": Known(
        _parameter("/sys/module/processor/parameters/max_cstate"), ("clocksource",)
    ),
    "cpuidle.off": Known(_parameter("/sys/module/cpuidle/parameters/off")),
    "nmi_watchdog": Known(_held(f"{KERNEL}/nmi_watchdog", {"0": "0", "1": "1"})),
    "nowatchdog": Known(_held(f"{KERNEL}/watchdog", {PRESENT: "0"})),
    "nosoftlockup": Known(_held(f"{KERNEL}/soft_watchdog", {PRESENT: "0"})),
    "norandmaps": Known(_held(RANDOMIZE, {PRESENT: "0"}), ("kernel.randomize_va_space",)),
    "nokaslr": Known(),
    "noautogroup": Known(None, ("kernel.autogroup",)),
    "preempt": Known(_preempt),
    "skew_tick": Known(),
    "threadirqs": Known(),
    "psi": Known(),
    "audit": Known(),
    "zswap.enabled": Known(_parameter("/sys/module/zswap/parameters/enabled"), ("zswap.enabled",)),
}
