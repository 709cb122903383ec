"""irqbalance: which CPUs this daemon gives no interrupts.

It listens on a socket, answers root alone, and carries out what it is told in its next round, ten
seconds later at most unless it was started otherwise (irqbalance(1), "API"; seen with 1.9.2). A
daemon that is started anew knows nothing of what another was told.
"""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Iterable

from assay.errors import BadInput
from assay.launch.system.host import Host
from assay.machine.cpulist import format_list, parse_mask

NAME = "irqbalance"
NONE = "none"
"""Banned: no CPU."""
_SETUP = re.compile(r"SLEEP (\d+) .*BANNED ([0-9a-f,]+)", re.ASCII | re.DOTALL)
_PAUSE_S = 0.2
_LATE_S = 5.0
"""A round may begin late."""
_TRIES = 3
"""It answers nobody while it works."""


def banned(host: Host) -> str | None:
    """CPUs that get no interrupts of it, as a list; ``None`` where it does not run or answer."""
    setup = _setup(host)
    return None if setup is None else setup[1]


def ban(host: Host, cpus: Iterable[int]) -> None:
    """Tell it to leave CPUs alone, and forget others; returns when it does so.

    Raises:
        OSError: it does not run, does not answer, or does something else.
    """
    setup = _setup(host)
    if setup is None:
        raise OSError(errno.ECONNREFUSED, "irqbalance does not answer", NAME)
    sleep_s, found = setup
    wanted = format_list(cpus) or NONE
    if found == wanted:
        return
    _ask(host, "settings cpus " + (" ".join(map(str, sorted(cpus))) or "NULL"))
    end_s = time.monotonic() + sleep_s + _LATE_S
    while banned(host) != wanted:
        if time.monotonic() > end_s:
            raise OSError(errno.ETIMEDOUT, "irqbalance goes on as before", NAME)
        time.sleep(_PAUSE_S)


def _setup(host: Host) -> tuple[int, str] | None:
    found = _SETUP.search(_ask(host, "setup"))
    if found is None:
        return None
    try:
        return int(found[1]), format_list(parse_mask(found[2])) or NONE
    except BadInput:
        return None


def _ask(host: Host, question: str) -> str:
    """What it answers; nothing where nobody does."""
    for pid in _processes(host):
        for path in (f"/run/{NAME}/{NAME}{pid}.sock", f"@{NAME}{pid}.sock"):
            for _ in range(_TRIES):
                try:
                    return host.ask(path, question)
                except TimeoutError:
                    continue
                except OSError:
                    break
    return ""


def _processes(host: Host) -> list[str]:
    names = [name for name in host.listdir("/proc") if name.isdecimal()]
    return [pid for pid in names if host.read(f"/proc/{pid}/comm") == NAME]
