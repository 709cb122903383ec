"""Checks of kernel activity beside programs: watchdogs, mitigations, clocks, perf.

Interfaces: ``Documentation/admin-guide/sysctl/kernel.rst``, ``admin-guide/lockup-watchdogs.rst``,
``admin-guide/hw-vuln/index.rst``, ``admin-guide/LSM/index.rst``, ``scheduler/sched-rt-group.rst``,
``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``vulnerabilities``).
"""

from __future__ import annotations

from assay.machine.checks.boot_lists import values_of
from assay.machine.checks.check_types import Check, NumberCheck, WordCheck
from assay.machine.checks.finding import Remedy
from assay.machine.checks.host import CPU, Host
from assay.machine.checks.readers import number_in, word_in
from assay.machine.checks.remedies import (
    boot_remedy,
    bound_remedy,
    root_remedy,
    word_remedy,
    write_remedy,
)
from assay.machine.processor import boot_arguments

_KERNEL = "/proc/sys/kernel"
_RT_RUNTIME = f"{_KERNEL}/sched_rt_runtime_us"
_RT_PERIOD = f"{_KERNEL}/sched_rt_period_us"
_VULNERABILITIES = f"{CPU}/vulnerabilities"
_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_LSM = "/sys/kernel/security/lsm"
_DEFAULT_RT_SHARE = 0.95


def _rt_throttling(host: Host) -> dict[str, str]:
    """Return ``on`` if real-time programs cannot use a whole CPU."""
    runtime, period = host.number(_RT_RUNTIME), host.number(_RT_PERIOD)
    return {_RT_RUNTIME: "on" if 0 <= runtime < period else "off"}


def _rt_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    # Defaults of the kernel: 950,000 of 1,000,000 us.
    value = "-1" if word == "off" else str(round(_DEFAULT_RT_SHARE * 1e6))
    return write_remedy(_RT_RUNTIME, value, f"rt.throttling={value}")


def _mitigations(host: Host) -> dict[str, str]:
    """Return ``off`` by a boot argument, ``on`` with active mitigations, else ``none``."""
    names = host.names(_VULNERABILITIES, r"\w+")
    texts = host.present(f"{_VULNERABILITIES}/{name}" for name in names)
    if {"off"} & set(values_of("mitigations", boot_arguments(host.root))):
        return {"/proc/cmdline": "off"}
    # Some begin with the affected part, as in "KVM: Mitigation: Split huge pages".
    if any("Mitigation" in text for text in texts.values()):
        return {f"{_VULNERABILITIES}/*": "on"}
    exposed = [path for path, text in texts.items() if "ulnerable" in text]
    if exposed:
        return {exposed[0]: "off"}
    for path, text in texts.items():
        if text != "Not affected":
            raise host.unread(path, f"contains neither state: {text[:40]!r}")
    return {f"{_VULNERABILITIES}/*": "none"}


def _mitigations_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    return boot_remedy("mitigations=off" if word == "off" else "mitigations=auto")


def _lsm(host: Host) -> dict[str, str]:
    """Return the modules that confine programs, such as ``selinux``; or ``none``."""
    loaded = host.text(_LSM).split(",")
    if "capability" not in loaded:  # part of every kernel
        raise host.unread(_LSM, f"contains no list of modules: {loaded[0][:40]!r}")
    confining = [name for name in ("selinux", "apparmor", "smack", "tomoyo") if name in loaded]
    return {_LSM: "+".join(confining) or "none"}


def _lsm_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    if word == "none":
        return boot_remedy("selinux=0 apparmor=0", "This removes a protection.")
    return boot_remedy(f"security={word}")


def _audit(host: Host) -> dict[str, str]:
    """Return ``off`` by a boot argument; otherwise the state of the daemon that loads rules."""
    host.text("/proc/cmdline")
    if {"0", "off"} & set(values_of("audit", boot_arguments(host.root))):
        return {"/proc/cmdline": "off"}
    return {"auditd": "running" if "auditd" in host.processes() else "stopped"}


def _audit_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    if word == "off":
        return boot_remedy("audit=0")
    if word == "running":
        return root_remedy("systemctl start auditd")
    # Its rules stay after the daemon stops, and its unit refuses `systemctl stop`.
    return root_remedy("auditctl -e 0; service auditd stop", note="It is lost at the next boot.")


def _clocksource_remedy(word: str, places: tuple[str, ...]) -> Remedy:
    return root_remedy(
        f"echo {word} > {places[0]}",
        note="The kernel log shows why it selected another one: dmesg | grep -i clocksource.",
    )


CHECKS: tuple[Check, ...] = (
    WordCheck(
        "kernel.watchdog",
        "lockup detection of the kernel",
        word_in(f"{_KERNEL}/watchdog"),
        word_remedy(f"{_KERNEL}/watchdog", "watchdog"),
        ("0", "1"),
    ),
    WordCheck(
        "kernel.nmi_watchdog",
        "lockup detection that uses a performance counter",
        word_in(f"{_KERNEL}/nmi_watchdog"),
        word_remedy(f"{_KERNEL}/nmi_watchdog", "watchdog.nmi"),
        ("0", "1"),
    ),
    WordCheck(
        "kernel.rt_throttling",
        "CPU time reserved from real-time programs",
        _rt_throttling,
        _rt_remedy,
        ("on", "off"),
    ),
    WordCheck(
        "kernel.aslr",
        "address space layout randomisation",
        word_in(f"{_KERNEL}/randomize_va_space"),
        word_remedy(f"{_KERNEL}/randomize_va_space"),
        ("0", "1", "2"),
    ),
    NumberCheck(
        "kernel.perf_paranoid",
        "permission to count perf events",
        "",
        number_in(f"{_KERNEL}/perf_event_paranoid"),
        bound_remedy(f"{_KERNEL}/perf_event_paranoid"),
    ),
    NumberCheck(
        "kernel.perf_rate",
        "maximum sampling rate of perf",
        "per second",
        number_in(f"{_KERNEL}/perf_event_max_sample_rate", "per second"),
        bound_remedy(f"{_KERNEL}/perf_event_max_sample_rate", "perf.rate"),
    ),
    WordCheck(
        "kernel.mitigations",
        "mitigations of processor vulnerabilities",
        _mitigations,
        _mitigations_remedy,
        ("on", "off", "none"),
    ),
    WordCheck("kernel.lsm", "security modules that confine programs", _lsm, _lsm_remedy),
    WordCheck(
        "kernel.audit",
        "auditing of system calls",
        _audit,
        _audit_remedy,
        ("off", "stopped", "running"),
    ),
    WordCheck("kernel.clocksource", "clock source", word_in(_CLOCK), _clocksource_remedy),
)
