"""Driver of assay-noise: runs it, and reads the kernel's counters before and after."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cpulist import format_list
from assay.machine.process_stat import parse_process_stat
from assay.machine.root import LIVE, Root
from assay.native_programs import find_native
from assay.records import decode
from assay.records.noise import NoiseRun

METHODS = ("selfish", "fwq", "ftq")
"""Methods in the order of the runs."""
STOP_TIMEOUT_S = 10.0
"""Time in seconds for the program to report its results after a request to end."""
MAX_PROCESSES = 5


@dataclass(frozen=True, slots=True)
class NoiseRequest:
    """Request of one run.

    Attributes:
        method: one of ``METHODS``.
        seconds: length of the run.
        cpus: CPUs to measure; all permitted ones if empty.
        quantum_s: quantum of work or time, in seconds.
        threshold_s: excess time above which an interval counts as a detour, in seconds.
    """

    method: str
    seconds: float
    cpus: tuple[int, ...] = ()
    quantum_s: float = 1e-3
    threshold_s: float = 1e-6


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Processor time of a process during a run, in seconds, with its name and last CPU.

    Attributes:
        parent: process id of its parent.
    """

    pid: int
    name: str
    cpu: int
    busy_s: float
    parent: int = 0


@dataclass(frozen=True, slots=True)
class NoiseMeasurement:
    """Run, with the load of the host during it.

    Attributes:
        run: report of the program.
        steal_s: steal time by CPU, in seconds, in steps of 10 ms.
        switches: number of context switches of the whole host.
        busiest_processes: processes with the most processor time, largest first.
    """

    run: NoiseRun
    steal_s: dict[int, float]
    switches: int
    busiest_processes: tuple[ProcessUsage, ...]


def find_noise(env: Mapping[str, str]) -> Path:
    """Return the program: ``ASSAY_NOISE``, else the one in the folder of the launcher.

    Raises:
        NotPossibleError: the program is missing.
    """
    return find_native(env, "assay-noise", "ASSAY_NOISE")


class NoiseMeter:
    """Running measurement; use it as a context manager, which ends it.

    Args:
        program: path from ``find_noise``.
        request: measurement to make.
        env: environment of the program.
        root: file system from which the host's counters are read.

    Raises:
        NotPossibleError: the program cannot be started.
    """

    def __init__(
        self, program: Path, request: NoiseRequest, env: Mapping[str, str], root: Root = LIVE
    ) -> None:
        self._program = program
        self._request = request
        self._root = root
        self._before = read_counters(root)
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = self._started(env)

    def __enter__(self) -> NoiseMeter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._out.close()
        self._err.close()

    def wait(self) -> None:
        """Wait for the end of the run."""
        self._process.wait()

    def stop(self) -> None:
        """End the run now; it reports its results so far."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT_S)

    def results(self) -> NoiseMeasurement:
        """Return the results, after ``wait`` or ``stop``.

        Raises:
            InvalidInputError: the program refused the request.
            NotPossibleError: the program gave no report, or could not measure on any CPU.
        """
        after = read_counters(self._root)
        text = _read_all(self._out)
        if self._process.returncode or not text.endswith(b"\n"):
            messages = _read_all(self._err).decode(errors="replace").strip().splitlines()
            why = messages[0] if messages else f"wait status {self._process.returncode}"
            raise NotPossibleError(
                f"{self._program} gave no report: {why}.", "Run it by hand to see its error."
            )
        run = decode(text, NoiseRun)
        if not run.measured:
            first = next((cpu for cpu in run.cpus if cpu.error), None)
            if first is not None:
                raise InvalidInputError(
                    f"CPU {first.cpu} cannot be measured: {first.error}.",
                    f"This process may use the CPUs {format_list(os.sched_getaffinity(0))}.",
                )
            raise NotPossibleError("The run has no results.", "Measure for longer: --seconds 5.")
        before = self._before
        return NoiseMeasurement(
            run=run,
            steal_s={
                cpu: max(0.0, s - before.steal_s.get(cpu, s)) for cpu, s in after.steal_s.items()
            },
            switches=max(0, after.switches - before.switches),
            busiest_processes=busiest_processes(before, after, {os.getpid(), self._process.pid}),
        )

    def _started(self, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                _argv(self._program, self._request),
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                env=dict(env),
                process_group=0,  # this process handles Ctrl-C, and requests the results so far
            )
        except OSError as error:
            self._out.close()
            self._err.close()
            raise NotPossibleError(
                f"{self._program} cannot be started: {error.strerror}.", "See `assay doctor`."
            ) from error


@dataclass(frozen=True, slots=True)
class KernelCounters:
    """Counters of the kernel since boot.

    Attributes:
        at_s: time of the reading, in seconds of CLOCK_MONOTONIC.
        steal_s: steal time by CPU, in seconds.
        switches: context switches of the whole host.
        busy: processor time of each process, by process id and start time.
    """

    at_s: float
    steal_s: dict[int, float]
    switches: int
    busy: dict[tuple[int, int], ProcessUsage]


def read_counters(root: Root = LIVE) -> KernelCounters:
    """Read ``/proc/stat`` and the counters of all processes (proc_stat(5), proc_pid_stat(5))."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    steal_s: dict[int, float] = {}
    switches = 0
    for line in (root.read_text("/proc/stat") or "").splitlines():
        words = line.split()
        if words[0].startswith("cpu") and words[0] != "cpu" and len(words) > 8:
            steal_s[int(words[0][3:])] = int(words[8]) * tick_s
        elif words[0] == "ctxt":
            switches = int(words[1])
    busy = {}
    for name in root.listdir("/proc"):
        if not name.isdecimal():
            continue
        stat = parse_process_stat(root.read_text(f"/proc/{name}/stat"))
        if stat is not None and stat.cpu is not None:
            spent_s = (stat.user_ticks + stat.sys_ticks) * tick_s
            busy[int(name), stat.started_ticks] = ProcessUsage(
                int(name), stat.name, stat.cpu, spent_s, parent=stat.parent
            )
    return KernelCounters(time.monotonic(), steal_s, switches, busy)


def descendants_of(counters: KernelCounters, pid: int) -> set[int]:
    """Return a process and its descendants.

    Args:
        counters: counters of all processes.
        pid: process id.
    """
    children: dict[int, list[int]] = {}
    for process in counters.busy.values():
        children.setdefault(process.parent, []).append(process.pid)
    found, queue = {pid}, [pid]
    while queue:
        new = [child for child in children.get(queue.pop(), ()) if child not in found]
        found.update(new)
        queue += new
    return found


def busiest_processes(
    before: KernelCounters, after: KernelCounters, own: set[int]
) -> tuple[ProcessUsage, ...]:
    """Return the processes with the most processor time between two readings, largest first.

    Args:
        before, after: readings.
        own: processes to ignore.
    """
    found = []
    for key, now in after.busy.items():
        then = before.busy.get(key)
        spent_s = now.busy_s - (then.busy_s if then else 0.0)
        if now.pid not in own and spent_s > 0:
            found.append(replace(now, busy_s=spent_s))
    return tuple(sorted(found, key=lambda process: -process.busy_s)[:MAX_PROCESSES])


def _argv(program: Path, request: NoiseRequest) -> Sequence[str]:
    words = [str(program), request.method]
    if request.cpus:
        words += ["--cpus", format_list(request.cpus)]
    return [
        *words,
        *("--seconds", repr(request.seconds)),
        *("--quantum-us", f"{request.quantum_s * 1e6:.3f}"),
        *("--threshold-us", f"{request.threshold_s * 1e6:.3f}"),
    ]


def _read_all(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
