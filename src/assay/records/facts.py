"""RunFacts: the report of assay-exec on one launch (see ``docs/reference/assay-exec.md``)."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class ProcessState(Record, frozen=True, kw_only=True):
    """Processes of a launch with identical settings, and their work.

    Attributes:
        comm: name of the processes, at most 15 bytes.
        processes: number of processes; one that executed another program counts once for each.
        cpu_s: observed CPU time, in seconds.
        resident_bytes: sum over the processes of their highest reading of resident memory, in
            bytes.
        cpus: CPU numbers of their affinity; absent with several instances.
        policy: scheduling class, such as ``other`` or ``fifo``.
        priority: priority in the real-time classes, from 1 to 99.
        nice: nice value, from -20 to 19.
        thp_enabled: true if the processes may have transparent huge pages (``THP_enabled`` of
            ``/proc/PID/status``).
        call_filters: number of system call filters, without those of the launcher.
        environ: values of the requested environment variables, by name.
        maps: mapped files that verify settings; absent if they were not requested or not readable.
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
    """State of the subject: the process of the tree that has used the most CPU time itself.

    A key is absent if its value could not be read. Some keys describe the whole tree.

    Attributes:
        at_s: time of the reading, in seconds since the start.
        pid: process id of the subject.
        cpus: CPU numbers in the affinity of the subject.
        visible_cpus: CPU numbers that ``/sys`` shows to the subject.
        policy: scheduling class of the subject, such as ``other`` or ``fifo``.
        priority: priority of the subject in the real-time classes, from 1 to 99.
        nice: nice value of the subject, from -20 to 19.
        thp_enabled: true if the subject may have transparent huge pages (``THP_enabled`` of
            ``/proc/PID/status``).
        call_filters: number of system call filters of the subject, without those of the launcher.
        environ: values of the requested environment variables of the subject, by name.
        maps: mapped files of all processes that verify settings.
        processes_peak: highest number of processes of the process tree at a reading.
        threads_peak: highest number of threads of the process tree at a reading.
        thread_cpus: distinct affinity masks of the threads, as CPU numbers, at the reading with the
            most threads.
        thread_counts: number of threads with each mask of ``thread_cpus``, in the same order.
        anon_huge_bytes: highest reading of the anonymous huge pages of the subject, in bytes.
        page_bytes: resident memory of the subject by page size, both in bytes.
        numa_pages: number of pages of the base size on each NUMA node, by node number.
        mempolicy: memory policy of most of the anonymous memory, such as ``bind:0``.
        comm: name of the subject, at most 15 bytes.
        workers: groups of processes with different settings, most CPU time first; empty if all are
            identical.
    """

    at_s: float | None = None
    pid: int | None = None
    cpus: tuple[int, ...] | None = None
    visible_cpus: tuple[int, ...] | None = None
    policy: str | None = None
    priority: int | None = None
    nice: int | None = None
    thp_enabled: bool | None = None
    call_filters: int | None = None
    environ: dict[str, str] | None = None
    maps: tuple[str, ...] | None = None
    processes_peak: int | None = None
    threads_peak: int | None = None
    thread_cpus: tuple[tuple[int, ...], ...] | None = None
    thread_counts: tuple[int, ...] | None = None
    anon_huge_bytes: int | None = None
    page_bytes: dict[str, int] | None = None
    numa_pages: dict[str, int] | None = None
    mempolicy: str | None = None
    comm: str | None = None
    workers: tuple[ProcessState, ...] = ()


class AppliedStep(Record, frozen=True, kw_only=True):
    """One step of the launcher before exec.

    Attributes:
        step: setting that the step applies: a key of the plan, such as ``affinity`` or
            ``sched.nice``.
        ok: true if the step succeeded.
        errno: error number of the kernel after a failure.
        method: enforcement of a limit: ``kernel``, or ``polled`` by the launcher.
    """

    step: str
    ok: bool
    errno: int | None = None
    method: str | None = None


class Containment(Record, frozen=True, kw_only=True):
    """Containment of the process tree, and whether a process could have escaped.

    Attributes:
        mode: kind of control group: ``v2``, ``hybrid``, ``v1`` or ``none``.
        guarantee: ``complete`` if the launcher ends every process of the tree, otherwise
            ``best_effort``.
        reason: reason for ``best_effort``.
        remaining_processes: number of processes that outlived the program and were terminated.
        remaining_process_names: names of some of them, without those that were already exiting.
        surviving_processes: number of processes that could not be killed within 10 s.
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
        process_tree_cpu_s: CPU time of the process tree, part of ``busy_s``, in seconds.
        launcher_cpu_s: CPU time of assay-exec, on any CPU of the host, in seconds.
        swap_in_pages: number of pages of the whole host that were read from swap areas.
        swap_out_pages: number of pages of the whole host that were written to swap areas.
        throttle_events: number of thermal throttling events of cores and packages.
        frequency_ratio: average clock frequency over the nominal one (APERF over MPERF); while the
            tree ran if a perf event counts it, otherwise of the CPUs from start to end.
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
        scope: counted modes: ``user``, or ``all`` (kernel included).
        scaled: true if the value is extrapolated from a part of the time.
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
        size_bytes: total size of the files, in bytes.
        cached_bytes: size of their part in the page cache, in bytes; absent if the kernel does not
            report it.
        unavailable: reason why ``cached_bytes`` is unknown.
    """

    files: int
    size_bytes: int
    cached_bytes: int | None = None
    unavailable: str | None = None


class InstanceFacts(Record, frozen=True, kw_only=True):
    """Result of one of several instances of the program.

    Attributes:
        pid: process id of the instance.
        exit_status: exit status of the instance.
        signal: number of the signal that ended the instance.
        wall_s: time from exec to exit, in seconds.
        user_s: CPU time in user mode, in seconds, with the children that the instance waited for.
        sys_s: CPU time in the kernel, in seconds, with the children that the instance waited for.
        cpus: CPU numbers of the affinity mask after exec.
        killed_after_failure: true if the instance was killed because another one failed.
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
        method: kind of request: ``SIGTERM`` or ``command``.
        duration_s: time until the program exited or was killed, in seconds.
        killed: true if the program had not exited in time.
        exit_status: exit status of the stop command; absent if it did not exit or was terminated by
            a signal.
        signal: number of the signal that terminated the stop command.
    """

    method: str
    duration_s: float
    killed: bool = False
    exit_status: int | None = None
    signal: int | None = None


class RunFacts(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Record of the launcher on one launch.

    A key is absent if its value could not be measured; ``unavailable`` states the reason.

    Attributes:
        launcher_version: version of the launcher.
        outcome: outcome of the launch, such as ``exited``, ``signaled`` or ``timed_out``.
        exit_status: exit status of the program, or of the first failed instance.
        signal: number of the signal that ended the program, or the first failed instance.
        core_dumped: true if the kernel wrote a core dump of the program.
        limit: limit that the launch reached: ``cpu``, ``memory``, ``processes`` or ``output``.
        interrupted_by: number of the signal that interrupted the launch.
        stage: failed step: a key of the plan, ``plan``, ``exec``, ``containment`` or
            ``supervisor``.
        errno: error number of the kernel at the failed step.
        message: cause of the failure, and its remedy.
        pid: process id of the program.
        started_at: time of the start, in seconds since 1970 (UTC).
        graceful_stop: request to terminate, before the normal end of the process tree.
        wall_s: time from just before exec to the exit of the program, in seconds.
        stopped_s: part of ``wall_s`` in which the program was stopped (SIGSTOP, SIGTSTP), in
            seconds; absent if it never was.
        user_s: CPU time of the process tree in user mode, in seconds.
        sys_s: CPU time of the process tree in the kernel, in seconds.
        cpu_scope: source of ``user_s`` and ``sys_s``: ``cgroup`` (control group) or ``waited``
            (processes that were waited for).
        waited_cpu_s: CPU time of the processes that were waited for, in seconds.
        peak_bytes: highest charge of the control group, page cache and huge page pools included, in
            bytes.
        peak_anon_bytes: highest anonymous and shared memory of the process tree, in bytes.
        peak_anon_source: source of ``peak_anon_bytes`` if the samples missed the peak: ``charge``
            (of the control group) or ``resident`` (peak resident set).
        peak_anon_upper_bound_bytes: upper bound of ``peak_anon_bytes``, in bytes, if memory between
            two samples may have made the peak clearly higher.
        anon_interval_s: longest time without a sample of memory, in seconds.
        anon_samples: number of samples of memory.
        minor_faults: number of page faults without I/O of the processes that were waited for.
        major_faults: number of page faults with I/O of the processes that were waited for.
        voluntary_switches: number of context switches because a thread waited, of the processes
            that were waited for.
        involuntary_switches: number of context switches by preemption, of the processes that were
            waited for.
        read_bytes: data read from disks by the processes that were waited for, in bytes.
        written_bytes: data written to disks by the processes that were waited for, in bytes.
        migrations: number of moves of threads of the process tree to another CPU.
        run_queue_wait_s: total time in which threads of the process tree were ready to run and
            waited for a CPU, in seconds.
        counters: counted perf events, by name.
        energy_j: energy by RAPL, in joules.
        energy_scope: extent of ``energy_j``: ``package`` is the whole processor packages, idle
            power included.
        pressure: pressure stall information of the control group: stall times in seconds, by name,
            such as ``cpu_some_s``.
        throttled_s: time in which the CPU quota of the control group stopped the process tree, in
            seconds.
        oom_kills: number of processes in the control group that the kernel killed for lack of
            memory.
        host: activity on the CPUs of the launch.
        containment: containment of the process tree.
        applied: applied settings, in order; the list ends with the first failure.
        instances: instances in the order of the plan; empty if the program ran once.
        first_failed_instance: index in ``instances`` of the first failed instance, from 0.
        readback: state read back from the running program.
        unavailable: reason for each missing quantity, by its key.
        cached_files: page cache residency before the launch, added by the executor if a setting
            needs it.
        system_files: contents, just before the launch, of files that system settings write or that
            show the boot, by path; added by the executor.
        changed_system_files: contents of those files that changed during the launch, by path.
        exported: exported variables of settings ``inherited.NAME``; absent if they were not read.
        stderr_head: first lines of standard error, added by the driver: some libraries report their
            choices there (``OPENBLAS_VERBOSE=2``).
        hook_report: report of the import hooks in the program, added by the driver: lines of
            process, name, time and value.
    """

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
    user_s: float | None = None
    sys_s: float | None = None
    cpu_scope: str | None = None
    waited_cpu_s: float | None = None
    peak_bytes: int | None = None
    peak_anon_bytes: int | None = None
    peak_anon_source: str | None = None
    peak_anon_upper_bound_bytes: int | None = None
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
    pressure: dict[str, float] | None = None
    throttled_s: float | None = None
    oom_kills: int | None = None
    host: HostActivity | None = None
    containment: Containment = Containment()
    applied: tuple[AppliedStep, ...] = ()
    instances: tuple[InstanceFacts, ...] = ()
    first_failed_instance: int | None = None
    readback: ReadBack | None = None
    unavailable: dict[str, str] = {}
    cached_files: CachedFiles | None = None
    system_files: dict[str, str] = {}
    changed_system_files: dict[str, str] = {}
    exported: dict[str, str] | None = None
    stderr_head: str | None = None
    hook_report: str | None = None

    @property
    def wall_s_per_instance(self) -> float | None:
        """Return the wall time over the number of instances, the inverse of their throughput."""
        return None if self.wall_s is None else self.wall_s / max(1, len(self.instances))
