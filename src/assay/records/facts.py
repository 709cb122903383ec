"""RunFacts: what assay-exec reports of one launch (see ``docs/reference/assay-exec.md``)."""

from __future__ import annotations

from assay.records.codec import Record


class ProcessState(Record, frozen=True, kw_only=True):
    """Processes of a launch that had one state, and the work that they did in it.

    Attributes:
        comm: their name, of at most 15 bytes.
        processes: their number; one that executed another program counts once for each.
        cpu_s: CPU time that was seen of them, in seconds.
        resident_bytes: sum of the highest readings of their resident memory.
        cpus, policy, priority, nice, thp_enabled, call_filters, environ: as ``ReadBack`` has them.
        maps: mapped files by which settings are judged.
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
    """Read back from the running program; a field that could not be read is ``None``."""

    at_s: float | None = None
    cpus: tuple[int, ...] | None = None
    cpus_shown: tuple[int, ...] | None = None
    """Those that its own ``/sys`` tells of."""
    policy: str | None = None
    priority: int | None = None
    """Of the real-time classes."""
    nice: int | None = None
    thp_enabled: bool | None = None
    call_filters: int | None = None
    """Filters of system calls, beyond those that the launcher itself has."""
    environ: dict[str, str] | None = None
    maps: tuple[str, ...] | None = None
    threads_peak: int | None = None
    thread_cpus: tuple[tuple[int, ...], ...] | None = None
    anon_huge_bytes: int | None = None
    page_bytes: dict[str, int] | None = None
    """Resident memory by the size in bytes of the pages that it is in."""
    numa_pages: dict[str, int] | None = None
    mempolicy: str | None = None
    comm: str | None = None
    workers: tuple[ProcessState, ...] = ()
    """The states that processes of the launch had, most CPU time first; none where all had one."""


class AppliedStep(Record, frozen=True, kw_only=True):
    """One step that the launcher took before exec."""

    what: str
    ok: bool
    errno: int | None = None


class Containment(Record, frozen=True, kw_only=True):
    """How the tree was held together and whether anything could have escaped.

    Attributes:
        left_over: processes that outlived the program and were ended.
        left_names: names of some of them, without those that were ending already.
    """

    mode: str = "none"
    guarantee: str = "best_effort"
    why: str | None = None
    left_over: int = 0
    left_names: tuple[str, ...] = ()
    survivors: int = 0


class HostActivity(Record, frozen=True, kw_only=True):
    """What others did on the CPUs of the launch while it ran.

    Attributes:
        cpus: how many there are.
        steal_s: time the hypervisor took from them.
        busy_s: time they worked.
        own_s: processor time of the tree, which is part of it.
        launcher_s: that of assay-exec, on whichever CPU of the host.
        swap_in_pages, swap_out_pages: of the whole host.
        throttle_events: times that a core or package was slowed down for its heat.
        frequency_ratio: APERF over MPERF, 1 at the nominal frequency; while the tree ran where a
            perf event gives it, else of the CPUs from start to end.
        clock_source: of the kernel.
    """

    cpus: int | None = None
    steal_s: float | None = None
    busy_s: float | None = None
    own_s: float | None = None
    launcher_s: float | None = None
    swap_in_pages: int | None = None
    swap_out_pages: int | None = None
    throttle_events: int | None = None
    frequency_ratio: float | None = None
    clock_source: str | None = None


class Counter(Record, frozen=True, kw_only=True):
    """A counter of the perf events of the kernel, over the tree from its exec on.

    Attributes:
        value: as counted; seconds where the name ends in ``_s``.
        enabled_s: how long threads of the tree ran while it was asked for.
        running_s: how much of this it counted; less where events shared a counter, or the threads
            ran on cores of another kind.
        scope: ``user`` or ``all`` (kernel included).
        scaled: extrapolated from a part of the time.
    """

    value: float
    enabled_s: float
    running_s: float
    scope: str
    scaled: bool = False


class CachedFiles(Record, frozen=True, kw_only=True):
    """What of the files that a command names was in the page cache just before its launch.

    Attributes:
        files: how many of them were looked at; empty ones are left out.
        size_bytes: of all of them.
        cached_bytes: in the page cache; ``None`` where the kernel does not tell.
        absent: why it does not.
    """

    files: int
    size_bytes: int
    cached_bytes: int | None = None
    absent: str | None = None


class InstanceFacts(Record, frozen=True, kw_only=True):
    """What became of one of several instances of the program.

    Attributes:
        cpus: its affinity mask just after exec.
        wall_s: from its exec to its end.
        ended_with_others: killed since another one had failed.
    """

    pid: int | None = None
    exit_status: int | None = None
    signal: int | None = None
    wall_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    cpus: tuple[int, ...] | None = None
    ended_with_others: bool = False


class Termination(Record, frozen=True, kw_only=True):
    """What came of asking a launch to end before it was killed.

    Attributes:
        by: ``SIGTERM`` or ``command``.
        waited_s: until it had ended, or was killed.
        killed: it had not ended in time.
        exit_status: of the command; absent where it had not ended, or by a signal.
        signal: that ended the command.
    """

    by: str
    waited_s: float
    killed: bool = False
    exit_status: int | None = None
    signal: int | None = None


class RunFacts(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """The launcher's record, version 1."""

    engine: str = ""
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
    asked_to_end: Termination | None = None
    wall_s: float | None = None
    stopped_s: float | None = None
    """How much of ``wall_s`` the program was stopped (SIGSTOP, SIGTSTP), in seconds; ``None`` where
    it never was."""
    user_s: float | None = None
    sys_s: float | None = None
    cpu_scope: str | None = None
    waited_cpu_s: float | None = None
    """Processor time of the processes that were waited for."""
    peak_bytes: int | None = None
    peak_anon_bytes: int | None = None
    peak_anon_at_most_bytes: int | None = None
    """Upper bound, where memory that no sample saw may have made the peak clearly higher."""
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
    """``package``: of all that ran on the processors, the idle part included."""
    pressure: dict[str, float] | None = None
    throttled_s: float | None = None
    oom_kills: int | None = None
    host: HostActivity | None = None
    containment: Containment = Containment()
    applied: tuple[AppliedStep, ...] = ()
    instances: tuple[InstanceFacts, ...] = ()
    """In the order of the plan; none where the program ran once."""
    failed_instance: int | None = None
    """Place in ``instances`` of the first that failed."""
    seen: ReadBack | None = None
    absent: dict[str, str] = {}
    cached_files: CachedFiles | None = None
    """Added by whoever started the launch, where a setting asks for it."""
    system: dict[str, str] = {}
    """What the files held that system settings write, and that show how the machine was booted,
    read just before the launch, by path; added by whoever started it."""
    system_changed: dict[str, str] = {}
    """What those held after it that had changed meanwhile."""
    exported: dict[str, str] | None = None
    """Exported variables of settings ``inherited.NAME``; ``None`` where nobody looked."""
    stderr_head: str | None = None
    """First lines of the error output, added by the driver: some libraries tell there what they
    chose (``OPENBLAS_VERBOSE=2``)."""
    hook_report: str | None = None
    """What import hooks in the program told, added by the driver: lines of process, name, moment
    and value."""

    @property
    def wall_s_per_instance(self) -> float | None:
        """Wall time over the number of instances: the inverse of what they get done in a second."""
        return None if self.wall_s is None else self.wall_s / max(1, len(self.instances))
