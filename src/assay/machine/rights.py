"""Privileges of this process, as far as they can be read.

Interfaces: ``proc_pid_status(5)``, ``capabilities(7)``, ``getrlimit(2)``, ``setpriority(2)``.
"""

from __future__ import annotations

import os
import re

from assay.machine.document import Rights
from assay.machine.process_stat import parse_process_stat
from assay.machine.root import Root

# fmt: off
_CAPABILITIES = (
    "chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid",
    "setpcap", "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw",
    "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct",
    "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod",
    "lease", "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog",
    "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
)
# fmt: on
"""Names in the order of their bits (``linux/capability.h``)."""

_NOBODY_UID = 65534
_MIN_NICE = -20
_MAX_RT_PRIORITY = 99
"""Highest priority of ``SCHED_FIFO`` and ``SCHED_RR`` (sched(7))."""


def read_rights(root: Root, status: str | None = None) -> Rights:
    """Return the privileges of this process; the least possible ones if the tree lacks them.

    Args:
        root: root of the host.
        status: ``/proc/PID/status`` of the process that performs privileged operations for this
            one.
    """
    if status is None:
        status = root.read_text("/proc/self/status") or ""
    capabilities = _capabilities(status)
    nice_now = _nice_now(root)
    in_namespace = _in_user_namespace(root)
    # can_nice() in kernel/sched checks CAP_SYS_NICE in the initial namespace.
    free = "CAP_SYS_NICE" in capabilities and not in_namespace
    return Rights(
        uid=_uid(status, root),
        capabilities=capabilities,
        user_namespace=in_namespace,
        min_nice=_MIN_NICE if free else min(nice_now, _nice_limit(root)),
        nice=nice_now,
        max_rt_priority=_MAX_RT_PRIORITY if free else _rt_limit(root),
        call_filters=not status or "Seccomp:" in status,
        user_namespaces_unavailable=_no_user_namespaces(root),
    )


def read_rt_share(root: Root) -> float | None:
    """Return the share of each CPU's time for real-time programs; ``None`` if unknown.

    Source: ``Documentation/scheduler/sched-rt-group.rst``. A runtime of -1 reserves nothing for
    others. From Linux 6.12 on a deadline server of the kernel always reserves 5 % for them
    (``fair_server``, commit 5f6bd380c7bd); it can be changed in debugfs without a trace, so it is
    not used here.
    """
    runtime_us = root.read_int("/proc/sys/kernel/sched_rt_runtime_us")
    period_us = root.read_int("/proc/sys/kernel/sched_rt_period_us")
    if runtime_us is None or not period_us:
        return None
    return 1.0 if runtime_us < 0 else min(1.0, runtime_us / period_us)


def _uid(status: str, root: Root) -> int:
    # Effective uid: the second of four.
    match = re.search(r"^Uid:\s*\d+\s+(\d+)", status, re.M)
    if match:
        return int(match[1])
    return os.geteuid() if root.live else _NOBODY_UID


def _capabilities(status: str) -> frozenset[str]:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.M)
    mask = int(match[1], 16) if match else 0
    named = (f"CAP_{name.upper()}" for bit, name in enumerate(_CAPABILITIES) if mask >> bit & 1)
    return frozenset(named)


def _in_user_namespace(root: Root) -> bool:
    # The initial namespace maps every id to itself; only there does root own the host.
    words = (root.read_text("/proc/self/uid_map") or "").split()
    return bool(words) and words != ["0", "0", "4294967295"]


def _no_user_namespaces(root: Root) -> str | None:
    """Return why user namespaces are disabled (``user_namespaces(7)``, and Debian's file)."""
    for path in (
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/unprivileged_userns_clone",
    ):
        if root.read_int(path) == 0:
            return f"{path} is 0"
    return None


def _nice_now(root: Root) -> int:
    stat = parse_process_stat(root.read_text("/proc/self/stat"))
    return stat.nice if stat else 0


def _nice_limit(root: Root) -> int:
    """Return RLIMIT_NICE as a nice value: the limit counts from 20 downwards (``getrlimit(2)``)."""
    match = re.search(
        r"^Max nice priority\s+(\d+|unlimited)", root.read_text("/proc/self/limits") or "", re.M
    )
    if match is None:
        return 20
    return max(_MIN_NICE, 20 - int(match[1])) if match[1].isdigit() else _MIN_NICE


def _rt_limit(root: Root) -> int:
    """Return RLIMIT_RTPRIO: the highest priority of a process without capabilities."""
    match = re.search(
        r"^Max realtime priority\s+(\d+|unlimited)", root.read_text("/proc/self/limits") or "", re.M
    )
    if match is None:
        return 0
    return min(_MAX_RT_PRIORITY, int(match[1])) if match[1].isdigit() else _MAX_RT_PRIORITY
