"""Driver of assay-noise: runs it, and looks at what the kernel counted before and after."""

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
from assay.machine.root import LIVE, Root
from assay.native_programs import find_native
from assay.records import decode
from assay.records.noise import NoiseRun

METHODS = ("selfish", "fwq", "ftq")
"""In the order in which they are run."""
STOP_TIMEOUT_S = 10.0
"""How long the program may take to tell what it has, after it was asked to end."""
MAX_PROCESSES = 5


@dataclass(frozen=True, slots=True)
class NoiseRequest:
    """What is asked of one run.

    Attributes:
        method: one of ``METHODS``.
        seconds: how long.
        cpus: where; all that may be used, where empty.
        quantum_s: of work or of time.
        threshold_s: what takes longer beyond the rule is a detour.
    """

    method: str
    seconds: float
    cpus: tuple[int, ...] = ()
    quantum_s: float = 1e-3
    threshold_s: float = 1e-6


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """A process that had processor time meanwhile: its name, its last CPU, how much in seconds.

    Attributes:
        parent: number of its parent.
    """

    pid: int
    name: str
    cpu: int
    busy_s: float
    parent: int = 0


@dataclass(frozen=True, slots=True)
class NoiseMeasurement:
    """A run, and what went on beside it.

    Attributes:
        run: what the program tells.
        steal_s: time that the hypervisor says it took, by CPU; in steps of 10 ms.
        switches: context switches of the whole host.
        busiest_processes: processes that had the most processor time, most first.
    """

    run: NoiseRun
    steal_s: dict[int, float]
    switches: int
    others: tuple[ProcessUsage, ...]


def find_noise(env: Mapping[str, str]) -> Path:
    """The program: ``ASSAY_NOISE``, else that beside the launcher.

    Raises:
        NotPossibleError: there is none.
    """
    return find_native(env, "assay-noise", "ASSAY_NOISE")


class NoiseMeter:
    """A run under way. Use it as a context: what is left of it is ended.

    Args:
        program: as ``find_noise`` gives it.
        request: what to measure.
        env: its environment.
        root: where the host's counters are read.

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
        """Wait until the time is over."""
        self._process.wait()

    def stop(self) -> None:
        """Have it end now, and tell what it has measured so far."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT_S)

    def found(self) -> NoiseMeasurement:
        """What was measured, after ``wait`` or ``stop``.

        Raises:
            InvalidInputError: the program did not take what was asked.
            NotPossibleError: it told nothing, or could measure nowhere.
        """
        after = read_counters(self._root)
        text = _whole(self._out)
        if self._process.returncode or not text.endswith(b"\n"):
            said = _whole(self._err).decode(errors="replace").strip().splitlines()
            why = said[0] if said else f"wait status {self._process.returncode}"
            raise NotPossibleError(
                f"{self._program} told nothing: {why}.", "Run it by hand to see."
            )
        run = decode(text, NoiseRun)
        if not run.measured:
            first = next((one for one in run.cpus if one.error), None)
            if first is not None:
                raise InvalidInputError(
                    f"Nothing can be measured on CPU {first.cpu}: {first.error}.",
                    f"This process may use the CPUs {format_list(os.sched_getaffinity(0))}.",
                )
            raise NotPossibleError("Nothing was measured.", "Measure for longer: --seconds 5.")
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
                process_group=0,  # Ctrl-C comes through this process, which asks for what there is
            )
        except OSError as error:
            self._out.close()
            self._err.close()
            raise NotPossibleError(
                f"{self._program} cannot be started: {error.strerror}.", "See `assay doctor`."
            ) from error


def measure_noise(program: Path, request: NoiseRequest, env: Mapping[str, str]) -> NoiseMeasurement:
    """One whole run.

    Raises:
        InvalidInputError, NotPossibleError: as ``NoiseMeter.found``.
    """
    with NoiseMeter(program, request, env) as meter:
        meter.wait()
        return meter.found()


@dataclass(frozen=True, slots=True)
class KernelCounters:
    """What the kernel has counted since it began.

    Attributes:
        at_s: when it was read; seconds of CLOCK_MONOTONIC.
        steal_s: by CPU.
        switches: of context, of the whole host.
        busy: processor time in seconds of each process, with its name and last CPU, by number and
            time of its start.
    """

    at_s: float
    steal_s: dict[int, float]
    switches: int
    busy: dict[tuple[int, str], ProcessUsage]


def read_counters(root: Root = LIVE) -> KernelCounters:
    """Counters of ``/proc/stat`` and of all processes (proc_stat(5), proc_pid_stat(5))."""
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
        head, _, tail = (root.read_text(f"/proc/{name}/stat") or "").rpartition(")")
        words = tail.split()
        if len(words) > 36:
            comm = head.partition("(")[2]
            spent_s = (int(words[11]) + int(words[12])) * tick_s
            seen = ProcessUsage(int(name), comm, int(words[36]), spent_s, parent=int(words[1]))
            busy[seen.pid, words[19]] = seen
    return KernelCounters(time.monotonic(), steal_s, switches, busy)


def descendants_of(counters: KernelCounters, pid: int) -> set[int]:
    """Return a process and all that descend from it.

    Args:
        counters: that tell of the processes there are.
        pid: of the process.
    """
    children: dict[int, list[int]] = {}
    for one in counters.busy.values():
        children.setdefault(one.parent, []).append(one.pid)
    found, ahead = {pid}, [pid]
    while ahead:
        born = [child for child in children.get(ahead.pop(), ()) if child not in found]
        found.update(born)
        ahead += born
    return found


def busiest_processes(
    before: KernelCounters, after: KernelCounters, own: set[int]
) -> tuple[ProcessUsage, ...]:
    """The processes that had the most processor time between two readings, most first.

    Args:
        before, after: the readings.
        own: processes that do not count.
    """
    found = []
    for key, now in after.busy.items():
        then = before.busy.get(key)
        spent_s = now.busy_s - (then.busy_s if then else 0.0)
        if now.pid not in own and spent_s > 0:
            found.append(replace(now, busy_s=spent_s))
    return tuple(sorted(found, key=lambda one: -one.busy_s)[:MAX_PROCESSES])


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


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
