"""Checks of the environment of programs: control groups, limits, hypervisor, load, power, time.

Interfaces: ``Documentation/admin-guide/cgroup-v2.rst``, ``proc_stat(5)``, ``proc_pid_status(5)``,
``Documentation/ABI/testing/sysfs-class-power``.
"""

from __future__ import annotations

from assay.machine.cgroup import (
    Cgroups,
    limit_files,
    own_cpuset,
    read_cgroups,
    unified_folders,
)
from assay.machine.checks.affinity import STATUS, affinity
from assay.machine.checks.check_types import (
    Check,
    Measurement,
    NumberCheck,
    RuleCheck,
    RuleResult,
    WordCheck,
)
from assay.machine.checks.finding import Remedy, UnreadableError
from assay.machine.checks.host import CPU, Host
from assay.machine.checks.remedies import boot_remedy, root_remedy
from assay.machine.checks.sampling import Interval
from assay.machine.cpulist import format_list
from assay.machine.processor import read_kernel, read_processor
from assay.machine.quota import describe_throttling, quota_stat, read_periods
from assay.machine.state import read_hypervisor
from assay.units import show_bytes, show_count

_MOUNTS = "/proc/self/mountinfo"
_DMI = "/sys/class/dmi/id"
_POWER = "/sys/class/power_supply"
_CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
"""Controllers with which assay confines a launch."""
_TIMEKEEPERS = ("chronyd", "ntpd", "systemd-timesyn", "ptp4l", "phc2sys", "openntpd", "ntpd-rs")
"""Names as in /proc/PID/comm: at most fifteen characters."""
_PERCENT = 100
_BUSY = ("user", "nice", "system", "irq", "softirq")


def _groups(host: Host) -> Cgroups:
    """Return the control groups, if their mounts can be read."""
    if not (host.root.read_text(_MOUNTS) or host.root.read_text("/proc/mounts")):
        raise host.unread(_MOUNTS)
    return read_cgroups(host.root)


def _mode(host: Host) -> dict[str, str]:
    return {_MOUNTS: _groups(host).mode}


def _mode_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    return boot_remedy(f"systemd.unified_cgroup_hierarchy={int(word == 'v2')}")


def _delegation(host: Host) -> RuleResult:
    """Check that this group has the controllers that confine and measure launches."""
    folders = unified_folders(host.root)
    if not folders:
        raise UnreadableError(f"no control groups of version 2 are mounted ({_MOUNTS})")
    path = f"{folders[0]}/cgroup.controllers"
    controllers = host.text(path).split()
    missing = [name for name in _CONTROLLERS if name not in controllers]
    if missing:
        text = f"missing: {', '.join(missing)} ({path})"
        if _groups(host).mode == "hybrid":  # version 1 has them
            return RuleResult(text, _mode_remedy("v2", ()))
        command = "systemctl edit user@.service"
        note = "Add the lines [Service] and Delegate=cpu cpuset io memory pids, then log in again."
        return RuleResult(text, root_remedy(command, note=note))
    return RuleResult(f"{' '.join(controllers)} ({path})")


def _cpuset(host: Host) -> RuleResult:
    """Check that this process may use all CPUs of its control group."""
    may = affinity(host)
    online = host.cpus(f"{CPU}/online")
    cpuset = own_cpuset(host.root)
    granted = frozenset(cpuset) & online if cpuset else online
    # Programs do not start on isolated CPUs, which is intended.
    kept_out = granted - may - host.optional_cpus(f"{CPU}/isolated")
    owner = "the cpuset has" if cpuset else "online are"
    text = f"may use {format_list(may)}, {owner} {format_list(granted)} ({STATUS})"
    if kept_out:
        command = f"taskset -c {format_list(granted)} assay ..."
        note = "Or start without taskset, numactl or a batch system that sets the mask."
        return RuleResult(text, Remedy(command, note=note, command=True))
    return RuleResult(text)


def _limits(host: Host, controller: str) -> str:
    """Return the file with the limits of a controller, or a text if no group has any.

    Raises:
        UnreadableError: there are no control groups, or none of their files was recorded.
    """
    if _groups(host).mode == "none":
        raise UnreadableError(f"no control groups are mounted ({_MOUNTS})")
    files = limit_files(host.root, controller)
    if not files and not host.root.live:
        raise UnreadableError(f"no limits of the controller {controller} were recorded")
    return files[0] if files else f"no group of this process limits {controller}"


def _cpu_limit(host: Host) -> RuleResult:
    """Check that no control group throttles programs on all CPUs."""
    limits = _limits(host, "cpu")
    cpus, limit = len(affinity(host)), _groups(host).cpu_limit
    if limit is not None and limit < cpus:
        throttling = describe_throttling(read_periods(host.root, quota_stat(host.root)))
        text = (
            f"CPU time is limited to {limit:g} CPUs{throttling}, of {cpus} usable ones ({limits})"
        )
        return RuleResult(text, Remedy("Start without a limit on CPU time, or use fewer threads."))
    return RuleResult(f"no limit below {show_count(cpus, 'CPU')} ({limits})")


def _memory_limit(host: Host) -> RuleResult:
    """Check that no control group limits memory."""
    limits = _limits(host, "memory")
    total = host.kilobytes("/proc/meminfo", "MemTotal") * 1024
    limit = _groups(host).memory_limit_bytes
    if limit is not None and limit < total:
        text = f"{show_bytes(limit)} of {show_bytes(total)} ({limits})"
        remedy = Remedy("Start with a higher limit, or reduce memory use well below it.")
        return RuleResult(text, remedy)
    return RuleResult(f"no limit below {show_bytes(total)} ({limits})")


def _hypervisor(host: Host) -> dict[str, str]:
    """Return the hypervisor of the host, or ``none``."""
    flags, arch = read_processor(host.root).flags, read_kernel(host.root).arch
    found = read_hypervisor(host.root, flags, arch)
    if found is not None:
        return {"/proc/cpuinfo, /sys/hypervisor, /sys/class/dmi": found}
    if flags and arch in ("x86_64", "i686"):
        return {"/proc/cpuinfo": "none"}
    # Other processors have no such flag, but the firmware's tables name the hypervisor.
    host.text(f"{_DMI}/sys_vendor")
    return {f"{_DMI}/sys_vendor": "none"}


def _hypervisor_remedy(*_: object) -> Remedy:
    return Remedy("Measure on the host itself, or on a guest with dedicated CPUs.")


def _shares(host: Host) -> dict[str, float]:
    if host.interval is None:
        raise UnreadableError("a recorded tree is one point in time: shares of time need two")
    shares = host.interval.shares
    if shares is None:
        raise host.unread("/proc/stat", "does not show how time passes")
    return shares


def _steal(host: Host) -> Measurement:
    share = _shares(host).get("steal")
    if share is None:
        raise host.unread("/proc/stat", "has no steal time")
    percent = _PERCENT * share
    return Measurement(
        percent, f"{percent:.1f} % of the time of all CPUs in the sample{_since(host.interval)}"
    )


def _since(interval: Interval | None) -> str:
    ticks = interval.after.ticks if interval else {}
    total = sum(ticks.values())
    return f", {_PERCENT * ticks['steal'] / total:.1f} % since boot (/proc/stat)" if total else ""


def _steal_remedy(*_: object) -> Remedy:
    return Remedy("Request dedicated CPUs from the owner of the host, or measure at another time.")


def _load(host: Host) -> Measurement:
    shares = _shares(host)
    percent = _PERCENT * sum(shares.get(kind, 0.0) for kind in _BUSY)
    return Measurement(
        percent, f"other programs use {percent:.0f} % of the time of all CPUs (/proc/stat)"
    )


def _load_remedy(*_: object) -> Remedy:
    return Remedy("top -d 1", note="It lists the processes; end them, or wait.", command=True)


def _power(host: Host) -> dict[str, str]:
    """Return ``mains`` or ``battery``; a host without a battery runs on mains."""
    names = host.root.listdir(_POWER)
    if not host.root.exists(_POWER):
        raise host.unread(_POWER)
    batteries: list[str] = []
    mains: list[str] = []
    for name in names:
        folder = f"{_POWER}/{name}"
        # Mice and similar devices have batteries too.
        if host.root.read_text(f"{folder}/scope") == "Device":
            continue
        kind = host.text(f"{folder}/type")
        if kind not in ("Battery", "Mains", "USB", "UPS", "Wireless"):
            raise host.unread(f"{folder}/type", f"contains an unknown kind: {kind[:40]!r}")
        (batteries if kind == "Battery" else mains).append(folder)
    if not batteries:
        return {f"no battery in {_POWER}": "mains"}
    if mains:
        plugged = next((m for m in mains if host.root.read_int(f"{m}/online")), None)
        return {f"{plugged or mains[0]}/online": "mains" if plugged else "battery"}
    path = f"{batteries[0]}/status"
    return {path: "battery" if host.text(path) == "Discharging" else "mains"}


def _power_remedy(*_: object) -> Remedy:
    return Remedy("Connect the power supply.")


def _time(host: Host) -> dict[str, str]:
    """Return ``kept`` if a program adjusts the clock, otherwise ``free``."""
    running = [name for name in _TIMEKEEPERS if name in host.processes()]
    return {"processes": "kept" if running else "free"}


def _time_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    action = "enable" if word == "kept" else "disable"
    return root_remedy(f"systemctl {action} --now chronyd", note="Or systemd-timesyncd, or ntpd.")


CHECKS: tuple[Check, ...] = (
    WordCheck(
        "surroundings.cgroup",
        "version of control groups",
        _mode,
        _mode_remedy,
        ("v2", "hybrid", "v1", "none"),
    ),
    RuleCheck("surroundings.delegation", "controllers that confine a launch", _delegation),
    RuleCheck("surroundings.cpuset", "all CPUs of the cpuset are usable", _cpuset),
    RuleCheck("surroundings.cpu_limit", "no limit on CPU time", _cpu_limit),
    RuleCheck("surroundings.memory_limit", "no limit on memory", _memory_limit),
    WordCheck("surroundings.hypervisor", "hypervisor", _hypervisor, _hypervisor_remedy),
    NumberCheck(
        "surroundings.steal", "steal time: CPU time of other guests", "%", _steal, _steal_remedy
    ),
    NumberCheck("surroundings.load", "CPU use of other programs", "%", _load, _load_remedy),
    WordCheck(
        "surroundings.power", "mains or battery", _power, _power_remedy, ("mains", "battery")
    ),
    WordCheck("surroundings.ntp", "clock synchronisation", _time, _time_remedy, ("kept", "free")),
)
