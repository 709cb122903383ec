"""CPUs that this process may use."""

from __future__ import annotations

import re

from assay.machine.checks.host import Host
from assay.machine.cpulist import list_in

STATUS = "/proc/self/status"


def affinity(host: Host) -> frozenset[int]:
    """Return the CPUs that this process may use (``proc_pid_status(5)``).

    Raises:
        UnreadableError: the file does not contain them.
    """
    match = re.search(r"^Cpus_allowed_list:\s*(\S+)$", host.text(STATUS), re.M)
    found = frozenset(list_in(match[1])) if match else frozenset()
    if not found:
        raise host.unread(STATUS, "contains no CPUs in Cpus_allowed_list")
    return found
