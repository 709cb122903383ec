"""Limits of this process.

Interfaces: ``proc_pid_limits(5)``, ``proc_pid_status(5)``, ``getrlimit(2)``.
"""

from __future__ import annotations

import re

from assay.machine.cgroup import Cgroups
from assay.machine.cpulist import list_in
from assay.machine.inventory.document import Limit, Limits
from assay.machine.root import Root

_LINE = re.compile(r"Max (.+?)\s{2,}(\w+)\s+(\w+)(?:\s+(\w+))?\s*$")


def read_limits(root: Root, cgroups: Cgroups) -> Limits:
    """Return the limits of this process; unknown ones are absent."""
    status = _fields(root.read_text("/proc/self/status") or "")
    return Limits(
        affinity=list_in(status.get("Cpus_allowed_list")),
        nodes=list_in(status.get("Mems_allowed_list")),
        cpuset=cgroups.cpus,
        memory_bytes=cgroups.memory_limit_bytes,
        cpus=cgroups.cpu_limit,
        thp_disabled=_flag(status.get("THP_enabled"), "0"),
        no_new_privileges=_flag(status.get("NoNewPrivs"), "1"),
        seccomp=None if "Seccomp" not in status else status["Seccomp"] != "0",
        resources=_resources(root.read_text("/proc/self/limits") or ""),
    )


def _fields(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.splitlines())
    return {key: value.strip() for key, _, value in lines}


def _flag(text: str | None, yes: str) -> bool | None:
    return None if text is None else text == yes


def _resources(text: str) -> tuple[Limit, ...]:
    found = (_LINE.match(line) for line in text.splitlines())
    return tuple(
        Limit(name=match[1], unit=match[4], soft=_number(match[2]), hard=_number(match[3]))
        for match in found
        if match and match[1] != "Limit"
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
