"""Checks of CPU speed: frequency, turbo, throttling, idle states, SMT.

Interfaces: ``Documentation/admin-guide/pm/{cpufreq,intel_pstate,amd-pstate,cpuidle}.rst``,
``Documentation/ABI/testing/sysfs-devices-system-cpu``.
"""

from __future__ import annotations

from assay.machine.checks.affinity import STATUS, affinity
from assay.machine.checks.check_types import (
    Check,
    Measurement,
    NumberCheck,
    RuleCheck,
    RuleResult,
    WordCheck,
    group_by_word,
)
from assay.machine.checks.finding import Remedy, Right, UnreadableError
from assay.machine.checks.host import CPU, Host
from assay.machine.checks.readers import word_in
from assay.machine.checks.remedies import boot_remedy, root_remedy, word_remedy, write_remedy
from assay.machine.cpulist import format_list
from assay.machine.inventory.clock import policy_folders
from assay.machine.topology import read_topology
from assay.units import show_count

_FREQ = f"{CPU}/cpufreq"
_NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
_BOOST = f"{_FREQ}/boost"
_PERCENT = 100


def _policies(host: Host, file: str) -> dict[str, str]:
    """Return the content of a file for each frequency domain, by path."""
    folders = policy_folders(host.root)
    if not folders:
        raise UnreadableError(f"{_FREQ} has no policy: no driver here can set frequencies")
    return host.present(f"{folder}/{file}" for folder in folders)


def _governor(host: Host) -> dict[str, str]:
    return _policies(host, "scaling_governor")


def _epp(host: Host) -> dict[str, str]:
    return _policies(host, "energy_performance_preference")


def _driver(host: Host) -> RuleResult:
    """Check that the frequency driver supports CPUs without a tick."""
    found = _policies(host, "scaling_driver")
    without_tick = host.optional_cpus(f"{CPU}/nohz_full")
    if without_tick and "intel_pstate" in found.values():
        text = f"{group_by_word(found)}, with nohz_full {format_list(without_tick)}"
        return RuleResult(
            f"{text}: frequencies may stay low there", boot_remedy("intel_pstate=passive")
        )
    return RuleResult(group_by_word(found))


def _turbo(host: Host) -> dict[str, str]:
    if host.root.exists(_NO_TURBO):
        return {_NO_TURBO: "off" if host.number(_NO_TURBO) else "on"}
    if host.root.exists(_BOOST):
        return {_BOOST: "on" if host.number(_BOOST) else "off"}
    raise UnreadableError(f"neither {_NO_TURBO} nor {_BOOST} exists")


def _turbo_remedy(word: str, places: tuple[str, ...]) -> Remedy:
    wanted = word == "on"
    value = int(not wanted if places[0] == _NO_TURBO else wanted)
    return write_remedy(places[0], str(value), f"cpu.turbo={word}")


def _freq_max(host: Host) -> RuleResult:
    """Check that frequencies may rise to the hardware's maximum."""
    capped = _below_hardware(host, "scaling_max_freq")
    path = f"{_FREQ}/policy*/scaling_max_freq"
    if capped:
        file, share = min(capped.items(), key=lambda pair: pair[1])
        command = f"for policy in {_FREQ}/policy*; do "
        command += "cat $policy/cpuinfo_max_freq > $policy/scaling_max_freq; done"
        text = f"limited to {share:.0f} % of the hardware's maximum ({file})"
        return RuleResult(text, root_remedy(command, f"cpu.freq_max={_highest_khz(host)}"))
    return RuleResult(f"at the hardware's maximum ({path})")


def _highest_khz(host: Host) -> int:
    return max(_frequencies(host, "cpuinfo_max_freq").values())


def _frequencies(host: Host, file: str) -> dict[str, int]:
    """Return the frequency in a file of each policy, in kHz, by its directory."""
    found = {}
    for path in _policies(host, file):
        found[path.rpartition("/")[0]] = khz = host.number(path)
        if khz <= 0:
            raise host.unread(path, f"contains no frequency: {khz}")
    return found


def _below_hardware(host: Host, file: str) -> dict[str, float]:
    """Return policies below the hardware's highest frequency: path -> percentage."""
    hardware = _frequencies(host, "cpuinfo_max_freq")
    found: dict[str, float] = {}
    for folder, khz in _frequencies(host, file).items():
        if folder not in hardware:
            raise host.unread(f"{folder}/cpuinfo_max_freq")
        if khz < hardware[folder]:
            found[f"{folder}/{file}"] = khz * _PERCENT / hardware[folder]
    return found


def _freq_min(host: Host) -> Measurement:
    below = _below_hardware(host, "scaling_min_freq")
    if not below:
        path = f"{_FREQ}/policy*/scaling_min_freq"
        return Measurement(_PERCENT, f"100 % of the hardware's highest frequency ({path})")
    path, share = min(below.items(), key=lambda pair: pair[1])
    return Measurement(share, f"{share:.0f} % of the hardware's highest frequency ({path})")


def _freq_min_remedy(bound: float, host: Host) -> Remedy:
    return root_remedy(
        f"for policy in {_FREQ}/policy*; do echo $(($(cat $policy/cpuinfo_max_freq) * {bound:g} "
        "/ 100)) > $policy/scaling_min_freq; done",
        f"cpu.freq_min={round(_highest_khz(host) * bound / _PERCENT)}",
    )


def _throttling(host: Host) -> Measurement:
    if host.interval is None:
        raise UnreadableError("a recorded tree is one point in time: throttling needs two")
    found = host.interval.throttled
    if not found:
        raise UnreadableError(f"{CPU}/cpu*/thermal_throttle is missing")
    times = sum(found.values())
    since = sum(host.interval.after.throttles.values())
    path = max(found, key=lambda p: found[p])
    evidence = f"{times} times in the sample, {since} since boot, summed over all cores ({path})"
    return Measurement(times, evidence)


def _throttling_remedy(*_: object) -> Remedy:
    return Remedy(
        "Improve cooling: check fans, dust, and the power limit of the firmware.",
        Right.FIRMWARE,
    )


def _idle(host: Host) -> Measurement:
    """Return the longest wake-up latency of an enabled idle state, in microseconds."""
    states = host.names(f"{CPU}/cpu0/cpuidle", r"state\d+")
    longest, place = -1, ""
    for cpu in sorted(host.cpus(f"{CPU}/online")):
        for state in states:
            folder = f"{CPU}/cpu{cpu}/cpuidle/{state}"
            if not host.root.exists(folder) or host.number(f"{folder}/disable"):
                continue
            latency = host.number(f"{folder}/latency")
            if latency > longest:
                longest, place = latency, folder
    if not place:
        return Measurement(0, f"every idle state is disabled ({CPU}/cpu*/cpuidle)")
    name = host.root.read_text(f"{place}/name") or "a state"
    return Measurement(longest, f"{name} has a wake-up latency of {longest} us ({place})")


def _idle_remedy(bound: float, _: Host) -> Remedy:
    return root_remedy(
        f"for state in {CPU}/cpu*/cpuidle/state*; do [ $(cat $state/latency) -le {bound:g} ] || "
        "echo 1 > $state/disable; done",
        f"cpu.idle={bound:g}",
    )


def _smt_remedy(word: str, places: tuple[str, ...]) -> Remedy:
    return write_remedy(places[0], word, f"cpu.smt={word}")


def _siblings(host: Host) -> RuleResult:
    """Check that this process has whole cores: a sibling thread would share their units."""
    host.cpus(f"{CPU}/cpu0/topology/thread_siblings_list")
    cpus = read_topology(host.root).cpus
    allowed = affinity(host) & {cpu.id for cpu in cpus}
    split = sorted({cpu.core for cpu in cpus if cpu.id in allowed and set(cpu.siblings) - allowed})
    if not split:
        return RuleResult(f"whole cores: {format_list(allowed)} ({STATUS})")
    whole = {c for cpu in cpus if cpu.id in allowed for c in cpu.siblings}
    others = format_list(whole - allowed)
    shared = show_count(len(split), "core")
    text = f"other processes may use {shared} of it too, on CPU {others} ({STATUS})"
    inside = {cpu.id for cpu in cpus if cpu.id in allowed and set(cpu.siblings) <= allowed}
    note = "Or request whole cores from the batch system."
    if inside:
        command = f"taskset -c {format_list(inside)} COMMAND"
        return RuleResult(text, Remedy(command, note=note, command=True))
    return RuleResult(text, Remedy("Start on whole cores.", note=note))


CHECKS: tuple[Check, ...] = (
    WordCheck(
        "cpu.governor",
        "frequency governor",
        _governor,
        word_remedy(f"{_FREQ}/policy*/scaling_governor", "cpu.governor"),
    ),
    WordCheck(
        "cpu.epp",
        "energy or performance preference of the processor",
        _epp,
        word_remedy(f"{_FREQ}/policy*/energy_performance_preference", "cpu.epp"),
    ),
    RuleCheck("cpu.driver", "the frequency driver supports CPUs without a tick", _driver),
    WordCheck(
        "cpu.turbo",
        "turbo frequencies, which depend on temperature",
        _turbo,
        _turbo_remedy,
        ("on", "off"),
    ),
    RuleCheck("cpu.freq_max", "no frequency limit below the hardware's maximum", _freq_max),
    NumberCheck("cpu.freq_min", "lowest allowed frequency", "%", _freq_min, _freq_min_remedy),
    NumberCheck("cpu.throttling", "thermal throttling", "times", _throttling, _throttling_remedy),
    NumberCheck("cpu.idle", "wake-up latency of idle CPUs", "us", _idle, _idle_remedy),
    WordCheck(
        "cpu.smt",
        "several threads per core",
        word_in(f"{CPU}/smt/control"),
        _smt_remedy,
        ("on", "off", "forceoff", "notsupported", "notimplemented"),
    ),
    RuleCheck("cpu.siblings", "whole cores belong to this process", _siblings),
)
