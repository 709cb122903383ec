"""Noise tracers of the kernel: osnoise and timerlat.

They report the interrupt, softirq or thread that took the time, and its length, which no program
can observe. They need root and a kernel with these tracers (5.14 or newer;
``CONFIG_OSNOISE_TRACER``, ``CONFIG_TIMERLAT_TRACER``). They use files of tracefs in a separate
instance, so that other tracing continues.

Sources: ``Documentation/trace/osnoise-tracer.rst`` and ``timerlat-tracer.rst``; Bristot de
Oliveira, Casini and Cucinotta, "Operating System Noise in the Linux Kernel", IEEE Transactions on
Computers 72:196 (2023).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.errors import NotPossibleError
from assay.host.host import Host, LiveHost
from assay.machine.cpulist import format_list
from assay.machine.root import LIVE, Root
from assay.noise.causes import Cause, CauseKind
from assay.records.noise import CpuNoise, ExplainedDetour, NoiseRun

TRACEFS_FOLDERS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
INSTANCE = "assay-noise"
MAX_WORST = 64
BUFFER_KB = "8192"
"""Size of the trace buffer of each CPU, in KiB."""

BENEATH = Cause(CauseKind.BENEATH, "firmware or the hypervisor: no event in the kernel")

_HEAD = r"^\s*(?P<task>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?(?P<at>\d+\.\d+):\s+"
_SAMPLE = re.compile(
    _HEAD + r"sample_threshold:\s+start (?P<start>\d+\.\d+) duration (?P<took>\d+) ns"
)
_NOISE = re.compile(
    _HEAD + r"(?P<kind>nmi|irq|softirq|thread)_noise:\s+(?:(?P<name>.+?)\s+)?"
    r"start (?P<start>\d+\.\d+) duration (?P<took>\d+) ns"
)
_LATENCY = re.compile(
    _HEAD + r"#(?P<count>\d+)\s+context\s+(?P<context>irq|thread|user-ret)\s+timer_latency\s+"
    r"(?P<took>\d+) ns"
)
_OVERRUN = re.compile(r"^overrun: (\d+)$", re.ASCII | re.MULTILINE)
_KINDS = {
    "nmi": CauseKind.INTERRUPT,
    "irq": CauseKind.INTERRUPT,
    "softirq": CauseKind.SOFTIRQ,
    "thread": CauseKind.THREAD,
}


@dataclass(frozen=True, slots=True)
class TraceResult:
    """Results of a tracer: a run, and the dominant cause of each detour.

    The keys of ``causes`` are the CPU and the start of the detour in nanoseconds.
    """

    run: NoiseRun
    causes: dict[tuple[int, int], Cause]


def demand_tracer(tool: str, root: Root = LIVE) -> str:
    """Return the folder of tracefs after a check that the kernel has this tracer.

    Raises:
        NotPossibleError: the tracer is missing, or this user may not use it.
    """
    folder = next((f for f in TRACEFS_FOLDERS if root.exists(f"{f}/available_tracers")), None)
    if folder is None:
        mounted = any(root.exists(f) and root.listdir(f) for f in TRACEFS_FOLDERS)
        rights = os.geteuid() != 0 or mounted
        raise NotPossibleError(
            f"The tracer {tool} cannot be used: "
            + ("this user may not use tracefs." if rights else "tracefs is not mounted."),
            "Run the command as root, or measure without --tool: fwq, ftq and selfish need no "
            "root rights."
            if rights
            else "Mount it (`mount -t tracefs tracefs /sys/kernel/tracing`), or measure without "
            "--tool: fwq, ftq and selfish need no tracefs.",
        )
    known = (root.read_text(f"{folder}/available_tracers") or "").split()
    if tool not in known:
        raise NotPossibleError(
            f"This kernel has no tracer {tool}.",
            f"Use a kernel with CONFIG_{tool.upper()}_TRACER=y (5.14 or newer), or measure without "
            "--tool: fwq, ftq and selfish need no tracer.",
        )
    return folder


def parse_osnoise(text: str, length_s: float, cpus: Sequence[int] = ()) -> TraceResult:
    """Return the detours and causes in the events of osnoise.

    Args:
        text: contents of ``trace``, with the events of the group ``osnoise``.
        length_s: length of the trace, in seconds.
        cpus: traced CPUs; those in the text are added.
    """
    detours: dict[int, list[ExplainedDetour]] = {cpu: [] for cpu in cpus}
    parts: dict[int, list[_Part]] = {cpu: [] for cpu in cpus}
    causes: dict[tuple[int, int], Cause] = {}
    for line in text.splitlines():
        if match := _SAMPLE.match(line):
            cpu, at_ns, took_ns = _placed(match)
            detours.setdefault(cpu, []).append(
                ExplainedDetour(start_ns=at_ns, duration_ns=took_ns, cpu=cpu)
            )
            inside = [p for p in parts.pop(cpu, []) if p.end_ns > at_ns]
            causes[cpu, at_ns] = _largest(inside) if inside else BENEATH
        elif match := _NOISE.match(line):
            cpu, at_ns, took_ns = _placed(match)
            name = (match["name"] or "").rpartition(":")[0] or match["kind"].upper()
            part = _Part(match["kind"], name, at_ns, took_ns)
            parts.setdefault(cpu, []).append(part)
            detours.setdefault(cpu, [])
    return _traced("osnoise", detours, causes, length_s)


def parse_timerlat(text: str, length_s: float, cpus: Sequence[int] = ()) -> TraceResult:
    """Return the delays of timerlat: from the timer's due time to the start of its thread.

    Args:
        text: contents of ``trace``, with the tracer ``timerlat``.
        length_s: length of the trace, in seconds.
        cpus: traced CPUs; those in the text are added.
    """
    detours: dict[int, list[ExplainedDetour]] = {cpu: [] for cpu in cpus}
    late_irq: dict[tuple[int, str], int] = {}
    causes: dict[tuple[int, int], Cause] = {}
    for line in text.splitlines():
        match = _LATENCY.match(line)
        if match is None:
            continue
        cpu, took_ns = int(match["cpu"]), int(match["took"])
        if match["context"] == "irq":
            late_irq[cpu, match["count"]] = took_ns
            continue
        if match["context"] != "thread":
            continue
        at_ns = _ns(match["at"]) - took_ns
        detours.setdefault(cpu, []).append(
            ExplainedDetour(start_ns=at_ns, duration_ns=took_ns, cpu=cpu)
        )
        irq_ns = late_irq.get((cpu, match["count"]), 0)
        causes[cpu, at_ns] = (
            Cause(CauseKind.INTERRUPT, "late timer interrupt")
            if irq_ns >= took_ns / 2
            else Cause(CauseKind.THREAD, "late wake-up of its thread, or other threads")
        )
    return _traced("timerlat", detours, causes, length_s)


@dataclass
class KernelTrace:
    """Running tracer, in a separate instance of tracefs.

    Args:
        folder: folder of tracefs, from ``demand_tracer``.
        tool: one of ``TOOLS``.
        cpus: CPUs to trace; all if empty.
        host: host to trace.
    """

    folder: str
    tool: str
    cpus: tuple[int, ...] = ()
    host: Host = field(default_factory=LiveHost)
    _before: dict[str, str] = field(default_factory=dict)

    @property
    def instance(self) -> str:
        """Folder of the instance."""
        return f"{self.folder}/instances/{INSTANCE}"

    @contextlib.contextmanager
    def running(self) -> Iterator[KernelTrace]:
        """Run the tracer within the context; restore all files afterwards.

        Raises:
            NotPossibleError: tracefs refuses the tracer.
        """
        try:
            self.host.mkdir(self.instance)
        except FileExistsError as error:
            raise NotPossibleError(
                f"The instance {self.instance} exists, probably from another run.",
                "Wait for its end. If the run was killed, remove the instance: `rmdir "
                f"{self.instance}`.",
            ) from error
        except OSError as error:
            raise self._refused(error) from error
        try:
            self._begin()
            yield self
        finally:
            self._end()

    def text(self) -> str:
        """Return the trace so far."""
        return self.host.read(f"{self.instance}/trace") or ""

    def lost(self) -> dict[int, int]:
        """Return the number of overwritten events, by CPU (ftrace.rst, ``per_cpu/cpu0/stats``)."""
        found = {}
        for name in self.host.listdir(f"{self.instance}/per_cpu"):
            text = self.host.read(f"{self.instance}/per_cpu/{name}/stats") or ""
            match = _OVERRUN.search(text)
            if match is not None:
                found[int(name.removeprefix("cpu"))] = int(match[1])
        return found

    def _begin(self) -> None:
        try:
            if self.cpus:
                self._set(f"{self.folder}/osnoise/cpus", format_list(self.cpus))
            if self.tool == "osnoise":
                self._set(f"{self.instance}/events/osnoise/enable", "1")
            self.host.write(f"{self.instance}/buffer_size_kb", BUFFER_KB)
            self.host.write(f"{self.instance}/current_tracer", self.tool)
        except OSError as error:
            raise self._refused(error) from error

    def _set(self, path: str, value: str) -> None:
        before = self.host.read(path)
        self.host.write(path, value)
        if before is not None:
            self._before[path] = before

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self.host.write(f"{self.instance}/current_tracer", "nop")
        for path, value in reversed(self._before.items()):
            with contextlib.suppress(OSError):
                self.host.write(path, value)
        with contextlib.suppress(OSError):
            self.host.rmdir(self.instance)

    def _refused(self, error: OSError) -> NotPossibleError:
        return NotPossibleError(
            f"The tracer {self.tool} cannot be started: {error.strerror}.",
            "Check for other tracers (`cat /sys/kernel/tracing/current_tracer`), or measure "
            "without --tool.",
        )


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    name: str
    at_ns: int
    took_ns: int

    @property
    def end_ns(self) -> int:
        return self.at_ns + self.took_ns


def _largest(parts: Sequence[_Part]) -> Cause:
    """Return the dominant cause of a detour; the tracer reports each part without nested ones."""
    part = max(parts, key=lambda detour: detour.took_ns)
    words = {
        "nmi": "a non-maskable interrupt",
        "irq": f"interrupt {part.name}",
        "softirq": f"softirq {part.name}",
        "thread": f"thread {part.name}",
    }[part.kind]
    tick = part.kind == "irq" and part.name == "local_timer"
    return Cause(CauseKind.TICK if tick else _KINDS[part.kind], "the timer tick" if tick else words)


def _traced(
    tool: str,
    detours: dict[int, list[ExplainedDetour]],
    causes: dict[tuple[int, int], Cause],
    length_s: float,
) -> TraceResult:
    began_ns = min((detour.start_ns for found in detours.values() for detour in found), default=0)
    cpus = tuple(
        _cpu_noise(cpu, found, began_ns, round(length_s * 1e9))
        for cpu, found in sorted(detours.items())
    )
    moved = {(cpu, at_ns - began_ns): cause for (cpu, at_ns), cause in causes.items()}
    return TraceResult(NoiseRun(method=tool, cpus=cpus), moved)


def _cpu_noise(
    cpu: int, found: Sequence[ExplainedDetour], began_ns: int, length_ns: int
) -> CpuNoise:
    ordered = sorted(found, key=lambda detour: detour.start_ns)
    longest = sorted(ordered, key=lambda detour: -detour.duration_ns)[:MAX_WORST]
    return CpuNoise(
        cpu=cpu,
        length_ns=length_ns,
        start_ns=tuple(detour.start_ns - began_ns for detour in ordered),
        duration_ns=tuple(detour.duration_ns for detour in ordered),
        worst=tuple(
            ExplainedDetour(
                start_ns=detour.start_ns - began_ns, duration_ns=detour.duration_ns, cpu=cpu
            )
            for detour in longest
        ),
    )


def with_lost_events(run: NoiseRun, lost: Mapping[int, int]) -> NoiseRun:
    """Return a run with the number of lost events, by CPU."""
    cpus = tuple(replace(cpu, dropped=lost.get(cpu.cpu, 0)) for cpu in run.cpus)
    return replace(run, cpus=cpus)


def _placed(match: re.Match[str]) -> tuple[int, int, int]:
    return int(match["cpu"]), _ns(match["start"]), int(match["took"])


TOOLS: Mapping[str, Callable[[str, float, Sequence[int]], TraceResult]] = {
    "osnoise": parse_osnoise,
    "timerlat": parse_timerlat,
}
"""Tracers by name, each with its parser."""


def _ns(seconds: str) -> int:
    """Return the nanoseconds of a decimal time, without the rounding of a float."""
    whole, _, part = seconds.partition(".")
    return int(whole) * 1_000_000_000 + int(part.ljust(9, "0")[:9])
