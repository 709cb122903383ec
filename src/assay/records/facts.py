"""RunFacts: the report of assay-exec on one launch (see ``docs/reference/assay-exec.md``)."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class ProcessState(Record, frozen=True, kw_only=True):
    """Processes of a launch with identical settings, and their work.

    Attributes:
        comm: name of the processes, at most 15 bytes.
        processes: number of processes; one that executed another program counts once for each.
        cpu_s: observed CPU time, in seconds.
        resident_bytes: sum of the highest readings of their resident memory.
        cpus, policy, priority, nice, thp_enabled, call_filters, environ: as in ``ReadBack``.
        maps: mapped files that verify settings.
    """

    comm: str = ""
    processes: int = 1
    cpu_s: float = 0.0
    resident_bytes: int = 0
    cpus: tuple[int, ...] | None = None
    policy: str | None = None
    priority: int | None = None
    nice: int | None = None
    thp_enabled: bool | None = None
    call_filters: int | None = None
    environ: dict[str, str] | None = None
    maps: tuple[str, ...] | None = None


class ReadBack(Record, frozen=True, kw_only=True):
    """Values read back from the running program; ``None`` if a value could not be read."""

    at_s: float | None = None
    cpus: tuple[int, ...] | None = None
    visible_cpus: tuple[int, ...] | None = None
    """CPUs listed in the ``/sys`` of the program."""
    policy: str | None = None
    priority: int | None = None
    """Priority in the real-time classes."""
    nice: int | None = None
    thp_enabled: bool | None = None
    call_filters: int | None = None
    """Number of system call filters, without those of the launcher."""
    environ: dict[str, str] | None = None
    maps: tuple[str, ...] | None = None
    threads_peak: int | None = None
    thread_cpus: tuple[tuple[int, ...], ...] | None = None
    anon_huge_bytes: int | None = None
    page_bytes: dict[str, int] | None = None
    """Resident memory by page size, both in bytes."""
    numa_pages: dict[str, int] | None = None
    mempolicy: str | None = None
    comm: str | None = None
    workers: tuple[ProcessState, ...] = ()
    """Groups of processes with different settings, most CPU time first; empty if all are
    identical."""


class AppliedStep(Record, frozen=True, kw_only=True):
    """One step of the launcher before exec."""

    step: str
    ok: bool
    errno: int | None = None


class Containment(Record, frozen=True, kw_only=True):
    """Containment of the process tree, and whether a process could have escaped.

    Attributes:
        remaining_processes: number of processes that outlived the program and were terminated.
        remaining_process_names: names of some of them, without those that were already exiting.
    """

    mode: str = "none"
    guarantee: str = "best_effort"
    reason: str | None = None
    remaining_processes: int = 0
    remaining_process_names: tuple[str, ...] = ()
    surviving_processes: int = 0


class HostActivity(Record, frozen=True, kw_only=True):
    """Activity on the CPUs of the launch while it ran.

    Attributes:
        cpus: number of CPUs.
        steal_s: steal time, in seconds.
        busy_s: busy time, in seconds.
        process_tree_cpu_s: CPU time of the process tree, part of ``busy_s``.
        launcher_cpu_s: CPU time of assay-exec, on any CPU of the host.
        swap_in_pages, swap_out_pages: swapped pages of the whole host.
        throttle_events: thermal throttling events of cores and packages.
        frequency_ratio: APERF over MPERF, 1 at the nominal frequency; while the tree ran if a perf
            event counts it, otherwise of the CPUs from start to end.
        clock_source: clock source of the kernel.
    """

    cpus: int | None = None
    steal_s: float | None = None
    busy_s: float | None = None
    process_tree_cpu_s: float | None = None
    launcher_cpu_s: float | None = None
    swap_in_pages: int | None = None
    swap_out_pages: int | None = None
    throttle_events: int | None = None
    frequency_ratio: float | None = None
    clock_source: str | None = None


class Counter(Record, frozen=True, kw_only=True):
    """Counter of a perf event of the kernel, over the process tree since exec.

    Attributes:
        value: counter value; in seconds if the name ends in ``_s``.
        enabled_s: run time of the threads while the event was enabled, in seconds.
        running_s: part of ``enabled_s`` in which the event was counted; less if events were
            multiplexed or the threads ran on cores of another type.
        scope: ``user`` or ``all`` (kernel included).
        scaled: extrapolated from a part of the time.
    """

    value: float
    enabled_s: float
    running_s: float
    scope: str
    scaled: bool = False


class CachedFiles(Record, frozen=True, kw_only=True):
    """Page cache residency, before the launch, of the files that a command names.

    Attributes:
        files: number of examined files, without empty ones.
        size_bytes: total size of the files.
        cached_bytes: bytes in the page cache; ``None`` if the kernel does not report it.
        unavailable: reason why ``cached_bytes`` is unknown.
    """

    files: int
    size_bytes: int
    cached_bytes: int | None = None
    unavailable: str | None = None


class InstanceFacts(Record, frozen=True, kw_only=True):
    """Result of one of several instances of the program.

    Attributes:
        cpus: affinity mask after exec.
        wall_s: time from exec to exit, in seconds.
        killed_after_failure: the instance was killed because another one failed.
    """

    pid: int | None = None
    exit_status: int | None = None
    signal: int | None = None
    wall_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    cpus: tuple[int, ...] | None = None
    killed_after_failure: bool = False


class Termination(Record, frozen=True, kw_only=True):
    """Early termination of a launch: a request to terminate, then SIGKILL.

    Attributes:
        method: ``SIGTERM`` or ``command``.
        duration_s: time until the program exited or was killed, in seconds.
        killed: the program had not exited in time.
        exit_status: exit status of the stop command; absent if it did not exit or was terminated by
            a signal.
        signal: signal that terminated the stop command.
    """

    method: str
    duration_s: float
    killed: bool = False
    exit_status: int | None = None
    signal: int | None = None


class RunFacts(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Record of the launcher, version 1."""

    launcher_version: str = ""
    outcome: str
    exit_status: int | None = None
    signal: int | None = None
    core_dumped: bool | None = None
    limit: str | None = None
    interrupted_by: int | None = None
    stage: str | None = None
    errno: int | None = None
    message: str | None = None
    pid: int | None = None
    started_at: float | None = None
    graceful_stop: Termination | None = None
    wall_s: float | None = None
    stopped_s: float | None = None
    """Part of ``wall_s`` in which the program was stopped (SIGSTOP, SIGTSTP), in seconds; ``None``
    if it never was."""
    user_s: float | None = None
    sys_s: float | None = None
    cpu_scope: str | None = None
    waited_cpu_s: float | None = None
    """CPU time of the processes that were waited for, in seconds."""
    peak_bytes: int | None = None
    peak_anon_bytes: int | None = None
    peak_anon_upper_bound_bytes: int | None = None
    """Upper bound, if memory between two samples may have made the peak clearly higher."""
    anon_interval_s: float | None = None
    anon_samples: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    migrations: int | None = None
    run_queue_wait_s: float | None = None
    counters: dict[str, Counter] = {}
    energy_j: float | None = None
    energy_scope: str | None = None
    """``package``: energy of the whole processor packages, idle power included."""
    pressure: dict[str, float] | None = None
    throttled_s: float | None = None
    oom_kills: int | None = None
    host: HostActivity | None = None
    containment: Containment = Containment()
    applied: tuple[AppliedStep, ...] = ()
    instances: tuple[InstanceFacts, ...] = ()
    """Instances in the order of the plan; empty if the program ran once."""
    first_failed_instance: int | None = None
    """Index in ``instances`` of the first failed instance."""
    readback: ReadBack | None = None
    unavailable: dict[str, str] = {}
    cached_files: CachedFiles | None = None
    """Page cache residency, added by the executor if a setting needs it."""
    system_files: dict[str, str] = {}
    """Contents, just before the launch, of files that system settings write or that show the boot,
    by path; added by the executor."""
    changed_system_files: dict[str, str] = {}
    """Contents of those files that changed during the launch."""
    exported: dict[str, str] | None = None
    """Exported variables of settings ``inherited.NAME``; ``None`` if they were not read."""
    stderr_head: str | None = None
    """First lines of standard error, added by the driver: some libraries report their choices there
    (``OPENBLAS_VERBOSE=2``)."""
    hook_report: str | None = None
    """Report of the import hooks in the program, added by the driver: lines of process, name, time
    and value."""

    @property
    def wall_s_per_instance(self) -> float | None:
        """Return the wall time over the number of instances, the inverse of their throughput."""
        return None if self.wall_s is None else self.wall_s / max(1, len(self.instances))
