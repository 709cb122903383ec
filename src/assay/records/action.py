"""Actions: the steps by which a plan applies a configuration to one launch.

The union is closed and serialisable. The launcher's document, the script that runs without assay
and, for actions outside the process, the undo journal are derived from the same list.
"""

from __future__ import annotations

from typing import Literal

from assay.records.codec import Record


class EnvSet(Record, frozen=True, kw_only=True, tag_field="kind", tag="env"):
    """Set an environment variable.

    Attributes:
        name: name of the variable.
        value: value of the variable.
    """

    name: str
    value: str


class EnvUnset(Record, frozen=True, kw_only=True, tag_field="kind", tag="env_unset"):
    """Remove an exported variable from the environment.

    Attributes:
        name: name of the variable.
    """

    name: str


class Arg(Record, frozen=True, kw_only=True, tag_field="kind", tag="arg"):
    """Replace the placeholder ``{name}`` in the command.

    Attributes:
        name: name of the placeholder, without braces.
        value: text that replaces the placeholder.
    """

    name: str
    value: str


class Build(Record, frozen=True, kw_only=True, tag_field="kind", tag="build"):
    """Replace the placeholder ``{name}`` in the command that builds the program.

    The executor applies it before the launch; the launcher ignores it.

    Attributes:
        name: name of the placeholder, without braces.
        value: text that replaces the placeholder.
    """

    name: str
    value: str


class Command(Record, frozen=True, kw_only=True, tag_field="kind", tag="command"):
    """Run this command instead of the workload's own (the arms of ``assay compare``).

    Attributes:
        argv: program and arguments.
    """

    argv: tuple[str, ...]


class Preload(Record, frozen=True, kw_only=True, tag_field="kind", tag="preload"):
    """Preload a shared object before those of the program (``LD_PRELOAD``).

    Attributes:
        path: path of the shared object.
        unsupported_runtimes: names of program runtimes that the object does not support.
        place_first: true if it precedes all other preloaded objects, because it forwards calls to
            them.
    """

    path: str
    unsupported_runtimes: tuple[str, ...] = ()
    place_first: bool = False


class Unpreload(Record, frozen=True, kw_only=True, tag_field="kind", tag="unpreload"):
    """Remove shared objects from an inherited ``LD_PRELOAD``.

    Attributes:
        prefixes: prefixes of the file names of the removed objects.
    """

    prefixes: tuple[str, ...]


class Affinity(Record, frozen=True, kw_only=True, tag_field="kind", tag="affinity"):
    """Restrict the process tree to these CPUs (``sched_setaffinity``).

    Attributes:
        cpus: numbers of the CPUs.
    """

    cpus: tuple[int, ...]


class MemPolicy(Record, frozen=True, kw_only=True, tag_field="kind", tag="mempolicy"):
    """Default memory policy of the process (``set_mempolicy``, inherited over exec).

    Attributes:
        mode: policy: ``preferred`` with several nodes is ``MPOL_PREFERRED_MANY``, ``weighted`` is
            ``MPOL_WEIGHTED_INTERLEAVE``.
        nodes: numbers of the NUMA nodes; empty with ``default`` and ``local``.
    """

    mode: Literal["default", "local", "bind", "preferred", "interleave", "weighted"]
    nodes: tuple[int, ...] = ()


class Sched(Record, frozen=True, kw_only=True, tag_field="kind", tag="sched"):
    """Scheduling class and nice value; ``None`` leaves an attribute unchanged.

    Attributes:
        policy: scheduling class.
        nice: nice value, from -20 to 19.
        priority: real-time priority, from 1 to 99, with ``fifo`` and ``rr``.
        runtime_ns: CPU time in each period, in nanoseconds, with ``deadline``.
        period_ns: length of the period and of its deadline, in nanoseconds, with ``deadline``.
    """

    policy: Literal["other", "batch", "idle", "fifo", "rr", "deadline"] | None = None
    nice: int | None = None
    priority: int | None = None
    runtime_ns: int | None = None
    period_ns: int | None = None


class IoPriority(Record, frozen=True, kw_only=True, tag_field="kind", tag="io_priority"):
    """I/O scheduling class and level (``ioprio_set``).

    Attributes:
        io_class: I/O scheduling class.
        level: level within the class, from 0 (highest) to 7; absent with ``idle``.
    """

    io_class: Literal["idle", "best-effort", "realtime"]
    level: int | None = None


class Prctl(Record, frozen=True, kw_only=True, tag_field="kind", tag="prctl"):
    """Process attribute that survives exec (``prctl``); only ``PR_SET_THP_DISABLE`` so far.

    Attributes:
        option: number of the attribute (first argument of ``prctl``).
        args: second to fifth argument of ``prctl``.
    """

    option: int
    args: tuple[int, int, int, int]


class Rlimit(Record, frozen=True, kw_only=True, tag_field="kind", tag="rlimit"):
    """Resource limit.

    Attributes:
        resource: name of the resource: that of ``RLIMIT_NAME`` in lower case, such as ``memlock``.
        soft: soft limit, in the unit of the resource; ``null``: unlimited.
        hard: hard limit, in the unit of the resource; ``null``: unlimited.
    """

    resource: str
    soft: int | None
    hard: int | None


class RestrictedCpuView(Record, frozen=True, kw_only=True, tag_field="kind", tag="own_view"):
    """Show the process tree only its own CPUs in ``/proc`` and ``/sys``."""


class AffinityCalls(Record, frozen=True, kw_only=True, tag_field="kind", tag="affinity_calls"):
    """Answer to system calls that set a CPU affinity within the process tree (``seccomp``).

    Attributes:
        answer: result of the calls: ``ignored`` (success without an effect) or ``refused``
            (``EPERM``).
    """

    answer: Literal["ignored", "refused"]


class PageCache(Record, frozen=True, kw_only=True, tag_field="kind", tag="page_cache"):
    """Before the launch, evict the files named by its command from the page cache, or read them.

    The executor applies it; the launcher ignores it.

    Attributes:
        state: state before the launch: ``cold`` (files evicted) or ``warm`` (files read).
    """

    state: Literal["cold", "warm"]


class Instances(Record, frozen=True, kw_only=True, tag_field="kind", tag="instances"):
    """Start several instances of the command at the same time, each on its own CPUs.

    Attributes:
        cpus: numbers of the CPUs of each instance.
        rank: number of the only instance to start, from 0, with the environment of all; absent: all
            start.
    """

    cpus: tuple[tuple[int, ...], ...]
    rank: int | None = None


class Wrap(Record, frozen=True, kw_only=True, tag_field="kind", tag="wrap"):
    """Prefix of the command (isolation levels).

    Attributes:
        argv: program and arguments before those of the command.
    """

    argv: tuple[str, ...]


FileFormat = Literal["text", "choice", "number", "cpulist", "mask"]
"""Format of a kernel file when it is read back.

``choice`` marks the active word with brackets. ``cpulist`` is a list such as ``0-3,8``. ``mask`` is
a hexadecimal mask in words of 32 bits."""


class WriteFile(Record, frozen=True, kw_only=True, tag_field="kind", tag="write_file"):
    """Write a value to a file of ``/sys`` or ``/proc``.

    Attributes:
        path: path of the file.
        value: text to write.
        form: format of the file when it is read back.
        resets: files that the kernel changes as a side effect, as ``dirty_ratio`` sets
            ``dirty_bytes`` to 0; their values are restored as well.
        tries: true if assay first writes the present value back to each of ``resets``. A file that
            rejects its own value could not be restored, and nothing is written then.
    """

    path: str
    value: str
    form: FileFormat = "text"
    resets: tuple[str, ...] = ()
    tries: bool = False


class HoldFd(Record, frozen=True, kw_only=True, tag_field="kind", tag="hold_fd"):
    """Write a number to a device and keep it open; closing the device withdraws the request.

    Attributes:
        path: path of the device.
        value: number to write, in the unit of the device: for ``/dev/cpu_dma_latency``
            microseconds.
    """

    path: str
    value: int


class Swap(Record, frozen=True, kw_only=True, tag_field="kind", tag="swap"):
    """Disable a swap area, or enable it with this priority (``swapon(2)``).

    Attributes:
        path: path of the file or device with the swap area.
        on: requested state: true (enabled) or false (disabled).
        priority: priority of the swap area; absent: chosen by the kernel.
    """

    path: str
    on: bool
    priority: int | None = None


class RequiredBoot(Record, frozen=True, kw_only=True, tag_field="kind", tag="booted"):
    """Requirement on the present boot; it is verified, never applied.

    Attributes:
        setting: name of the setting.
        requirement: requirement as text, such as ``mitigations=off on the kernel's command line``.
        observed: evidence, found before the launch, that the present boot satisfies it.
        files: kernel files that show it, with their contents at planning time; each launch reads
            them again.
        effect_observed: true if the effect was observed. Otherwise it is on the command line, or
            the user confirmed it.
    """

    setting: str
    requirement: str
    observed: str
    files: dict[str, str] = {}
    effect_observed: bool = False


SystemAction = WriteFile | HoldFd | Swap
"""Actions that change the machine for all processes."""


class ControlGroup(Record, frozen=True, kw_only=True, tag_field="kind", tag="control_group"):
    """Create a control group and write its files in this order.

    ``gathers`` moves the threads of all programs in the parent group into it, and back when it is
    removed (version 1).
    """

    path: str
    files: tuple[tuple[str, str], ...]
    gathers: bool = False


class DelegateController(Record, frozen=True, kw_only=True, tag_field="kind", tag="delegate"):
    """Enable a controller for the children of a group (``cgroup.subtree_control``, version 2)."""

    group: str
    controller: str

    @property
    def path(self) -> str:
        """Identifier in the undo journal."""
        return f"{self.group}/cgroup.subtree_control {self.controller}"


class TaskAffinity(Record, frozen=True, kw_only=True, tag_field="kind", tag="task_affinity"):
    """Restrict a running thread to these CPUs.

    ``started`` is its start time in clock ticks (``proc_pid_stat(5)``), because thread ids are
    reused.
    """

    tid: int
    started: int
    cpus: tuple[int, ...]

    @property
    def path(self) -> str:
        """Identifier in the undo journal."""
        return f"/proc/{self.tid}@{self.started}"


class IrqBalance(Record, frozen=True, kw_only=True, tag_field="kind", tag="irqbalance"):
    """Ban irqbalance from these CPUs, and from no others."""

    cpus: tuple[int, ...]

    @property
    def path(self) -> str:
        """Identifier in the undo journal."""
        return "irqbalance"


HostAction = SystemAction | ControlGroup | DelegateController | TaskAffinity | IrqBalance
"""Actions of the undo journal. Plans contain none that only partitions use."""

Action = (
    EnvSet
    | EnvUnset
    | Arg
    | Build
    | Command
    | Preload
    | Unpreload
    | Affinity
    | MemPolicy
    | Sched
    | IoPriority
    | Prctl
    | RestrictedCpuView
    | Rlimit
    | AffinityCalls
    | PageCache
    | Instances
    | Wrap
    | WriteFile
    | HoldFd
    | Swap
    | RequiredBoot
)
