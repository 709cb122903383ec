"""irqbalance: CPUs to which this daemon assigns no interrupts.

The daemon listens on a socket and answers only root. It applies a request in its next round, at
most ten seconds later by default (irqbalance(1), "API"; observed with 1.9.2). A restarted daemon
does not know earlier requests.
"""

from __future__ import annotations

import contextlib
import errno
import re
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay.errors import InvalidInputError
from assay.host.host import Host
from assay.machine.cpulist import format_list, parse_mask
from assay.machine.tunables import INTERRUPT_CPUS

NAME = "irqbalance"
NONE = "none"
"""Text for an empty list of banned CPUs."""
_SOCKET = re.compile(rf"{NAME}([0-9]+)\.sock", re.ASCII)
_SETUP = re.compile(r"SLEEP (\d+) .*BANNED ([0-9a-f,]+)", re.ASCII | re.DOTALL)
_OWNED_BY_ROOT = re.compile(r"^Uid:\t0\t0\t", re.ASCII | re.MULTILINE)
_DEFAULT_INTERVAL_S = 10.0
"""Default interval of two rounds, in seconds."""
_MAX_INTERVAL_S = 60.0
_START_TIMEOUT_S = 10.0
_PAUSE_S = 0.2


def banned(host: Host) -> str | None:
    """Return the list of banned CPUs; ``None`` if the daemon does not run or answer."""
    setup = _setup(host)
    return None if setup is None else setup.banned


def ban(host: Host, cpus: Iterable[int]) -> None:
    """Replace the list of banned CPUs; return when the daemon has applied it.

    Raises:
        OSError: the daemon does not run, does not answer, or does not apply the list.
    """
    setup = _setup(host)
    if setup is None:
        raise OSError(errno.ECONNREFUSED, "irqbalance does not answer", NAME)
    wanted = format_list(cpus) or NONE
    if setup.banned == wanted:
        return
    words = " ".join(map(str, sorted(cpus))) or "NULL"
    host.ask(setup.address, f"settings cpus {words}", _DEFAULT_INTERVAL_S)
    # It applies the list in its next round, then sleeps for another one without answering.
    end_s = time.monotonic() + 2 * min(setup.sleep_s, _MAX_INTERVAL_S) + _START_TIMEOUT_S
    while (now := _setup_at(host, setup.address)) is None or now.banned != wanted:
        if time.monotonic() > end_s:
            raise OSError(errno.ETIMEDOUT, "irqbalance did not apply the request", NAME)
        time.sleep(_PAUSE_S)


def balances(host: Host, path: str) -> bool:
    """Return whether the daemon runs, and may thus assign an interrupt to other CPUs at any time.

    Args:
        host: host of the daemon.
        path: path of any file. Those other than the CPUs of an interrupt are not assigned.
    """
    return bool(INTERRUPT_CPUS.fullmatch(path)) and next(_processes(host), None) is not None


class _Setup(NamedTuple):
    address: str
    sleep_s: float
    banned: str


def _setup(host: Host) -> _Setup | None:
    for pid in _processes(host):
        for address in (f"/run/{NAME}/{NAME}{pid}.sock", f"@{NAME}{pid}.sock"):
            found = _setup_at(host, address)
            if found is not None:
                return found
    return None


def _setup_at(host: Host, address: str) -> _Setup | None:
    with contextlib.suppress(OSError, InvalidInputError):
        found = _SETUP.search(
            host.ask(address, "setup", 2 * _DEFAULT_INTERVAL_S + _START_TIMEOUT_S)
        )
        if found is not None:
            cpus = format_list(parse_mask(found[2])) or NONE
            return _Setup(address, float(found[1]), cpus)
    return None


def _processes(host: Host) -> Iterator[str]:
    """Yield its processes of root: other users may use the same name and address.

    Those with a socket come first: they take no search of all processes.
    """
    found = map(_SOCKET.fullmatch, host.listdir(f"/run/{NAME}"))
    with_socket = [match[1] for match in found if match]
    yield from (pid for pid in with_socket if _is_daemon(host, pid))
    for name in host.listdir("/proc"):
        if name.isdecimal() and name not in with_socket and _is_daemon(host, name):
            yield name


def _is_daemon(host: Host, pid: str) -> bool:
    if host.read(f"/proc/{pid}/comm") != NAME:
        return False
    return _OWNED_BY_ROOT.search(host.read(f"/proc/{pid}/status") or "") is not None
