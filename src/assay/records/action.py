"""Actions: what a plan does to one launch.

The union is closed and serialisable, so that the launcher's document, the script that runs
without assay, and (for what lies outside the process) the undo journal are readings of one list.
Actions on the topology join here when their settings do.
"""

from __future__ import annotations

from typing import Literal

from assay.records.codec import Record


class EnvSet(Record, frozen=True, kw_only=True, tag_field="kind", tag="env"):
    """Set an environment variable."""

    name: str
    value: str


class EnvUnset(Record, frozen=True, kw_only=True, tag_field="kind", tag="env_unset"):
    """Take a variable that the caller exports out of the environment."""

    name: str


class Arg(Record, frozen=True, kw_only=True, tag_field="kind", tag="arg"):
    """Replace the placeholder ``{name}`` in the command."""

    name: str
    value: str


class Build(Record, frozen=True, kw_only=True, tag_field="kind", tag="build"):
    """Replace the placeholder ``{name}`` in the command that builds the program.

    Carried out by whoever starts the launch, before it, and not by the launcher.
    """

    name: str
    value: str


class Command(Record, frozen=True, kw_only=True, tag_field="kind", tag="command"):
    """Run this command instead of the workload's own (the arms of ``assay compare``)."""

    argv: tuple[str, ...]


class Preload(Record, frozen=True, kw_only=True, tag_field="kind", tag="preload"):
    """Put a shared object in front of the program's own (``LD_PRELOAD``).

    ``not_into`` names runtimes of programs that it cannot serve. ``first``: it stands before the
    plan's others, as one must that hands on to them what it does not do itself.
    """

    path: str
    not_into: tuple[str, ...] = ()
    first: bool = False


class Unpreload(Record, frozen=True, kw_only=True, tag_field="kind", tag="unpreload"):
    """Take shared objects out of an inherited ``LD_PRELOAD``: those whose file name starts so."""

    prefixes: tuple[str, ...]


class Affinity(Record, frozen=True, kw_only=True, tag_field="kind", tag="affinity"):
    """Let the tree run on these CPUs only (``sched_setaffinity``)."""

    cpus: tuple[int, ...]


class MemPolicy(Record, frozen=True, kw_only=True, tag_field="kind", tag="mempolicy"):
    """Default memory policy of the process (``set_mempolicy``, inherited over exec)."""

    mode: Literal["default", "local", "bind", "preferred", "interleave", "weighted"]
    nodes: tuple[int, ...] = ()


class Sched(Record, frozen=True, kw_only=True, tag_field="kind", tag="sched"):
    """Scheduling class and nice value; what is ``None`` stays as it is.

    ``priority`` (1 to 99) belongs to ``fifo`` and ``rr``; ``runtime_ns`` in every ``period_ns``,
    which is the deadline too, to ``deadline``.
    """

    policy: Literal["other", "batch", "idle", "fifo", "rr", "deadline"] | None = None
    nice: int | None = None
    priority: int | None = None
    runtime_ns: int | None = None
    period_ns: int | None = None


class IoPriority(Record, frozen=True, kw_only=True, tag_field="kind", tag="io_priority"):
    """Class and level (0 first, 7 last) of what is read and written (``ioprio_set``)."""

    io_class: Literal["idle", "best-effort", "realtime"]
    level: int | None = None


class Prctl(Record, frozen=True, kw_only=True, tag_field="kind", tag="prctl"):
    """A process attribute that survives exec (``prctl``); only ``PR_SET_THP_DISABLE`` so far."""

    option: int
    args: tuple[int, int, int, int]


class Rlimit(Record, frozen=True, kw_only=True, tag_field="kind", tag="rlimit"):
    """A resource limit; ``None`` is unlimited."""

    resource: str
    soft: int | None
    hard: int | None


class RestrictedCpuView(Record, frozen=True, kw_only=True, tag_field="kind", tag="own_view"):
    """Have files of ``/proc`` and ``/sys`` tell the tree of its own CPUs alone."""


class AffinityCalls(Record, frozen=True, kw_only=True, tag_field="kind", tag="affinity_calls"):
    """How calls by which the tree chooses CPUs itself are answered (``seccomp``)."""

    answer: Literal["ignored", "refused"]


class PageCache(Record, frozen=True, kw_only=True, tag_field="kind", tag="page_cache"):
    """Before the launch, drop the files that its command names from the page cache, or read them.

    Carried out by whoever starts the launch, not by the launcher.
    """

    state: Literal["cold", "warm"]


class Instances(Record, frozen=True, kw_only=True, tag_field="kind", tag="instances"):
    """Start the command several times at once, each on CPUs of its own.

    With a ``rank`` only that one is started, as if the others were there.
    """

    cpus: tuple[tuple[int, ...], ...]
    rank: int | None = None


class Wrap(Record, frozen=True, kw_only=True, tag_field="kind", tag="wrap"):
    """Words put in front of the command (isolation levels)."""

    argv: tuple[str, ...]


FileFormat = Literal["text", "choice", "number", "cpulist", "mask"]
"""How a file of the kernel reads back: ``choice`` marks the word in force with brackets, a
``cpulist`` is one as in ``0-3,8``, a ``mask`` a hexadecimal one in words of 32 bits."""


class WriteFile(Record, frozen=True, kw_only=True, tag_field="kind", tag="write_file"):
    """Write a value into a file of ``/sys`` or ``/proc``.

    ``resets`` names files that the kernel changes with it, as ``dirty_ratio`` sets
    ``dirty_bytes`` to 0: what they held is put back as well. With ``tries`` each of them is first
    written with what it holds: where it does not take that, it could not be put back, and nothing
    is written.
    """

    path: str
    value: str
    form: FileFormat = "text"
    resets: tuple[str, ...] = ()
    tries: bool = False


class HoldFd(Record, frozen=True, kw_only=True, tag_field="kind", tag="hold_fd"):
    """Write a number into a device and hold it open: closing it takes the wish back."""

    path: str
    value: int


class Swap(Record, frozen=True, kw_only=True, tag_field="kind", tag="swap"):
    """Take a swap area out of use, or into it with this priority (``swapon(2)``)."""

    path: str
    on: bool
    priority: int | None = None


class RequiredBoot(Record, frozen=True, kw_only=True, tag_field="kind", tag="booted"):
    """Run in a boot that has this; nothing is done for it, it is looked at.

    Attributes:
        setting: whose value it is.
        needs: in words: ``mitigations=off on the kernel's command line``.
        observed: what showed, before the launch, that the present boot has it.
        files: of the kernel that show it, and what they held then; read again at each launch.
        shown: its effect was seen; else it is on the command line, or somebody said so.
    """

    setting: str
    needs: str
    observed: str
    files: dict[str, str] = {}
    shown: bool = False


SystemAction = WriteFile | HoldFd | Swap
"""What changes the machine for all that runs on it."""


class ControlGroup(Record, frozen=True, kw_only=True, tag_field="kind", tag="control_group"):
    """Make a control group, and write into its files, in this order.

    With ``gathers`` the threads of all programs that are in the group above it go into it, and back
    there when it is removed (version 1).
    """

    path: str
    files: tuple[tuple[str, str], ...]
    gathers: bool = False


class DelegateController(Record, frozen=True, kw_only=True, tag_field="kind", tag="delegate"):
    """Let the groups below one have a controller (``cgroup.subtree_control``, version 2)."""

    group: str
    controller: str

    @property
    def path(self) -> str:
        """A name for it, as files have one."""
        return f"{self.group}/cgroup.subtree_control {self.controller}"


class TaskAffinity(Record, frozen=True, kw_only=True, tag_field="kind", tag="task_affinity"):
    """Keep a thread that runs to these CPUs.

    ``started`` is its start time in clock ticks (``proc_pid_stat(5)``): numbers are used again.
    """

    tid: int
    started: int
    cpus: tuple[int, ...]

    @property
    def path(self) -> str:
        """A name for the thread, as files have one."""
        return f"/proc/{self.tid}@{self.started}"


class IrqBalance(Record, frozen=True, kw_only=True, tag_field="kind", tag="irqbalance"):
    """Have irqbalance give these CPUs no interrupts, and no others than these."""

    cpus: tuple[int, ...]

    @property
    def path(self) -> str:
        """A name for the daemon, as files have one."""
        return "irqbalance"


HostAction = SystemAction | ControlGroup | DelegateController | TaskAffinity | IrqBalance
"""All that is written into the undo journal; what partitions alone do is in no plan."""

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
