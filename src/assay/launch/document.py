"""Launcher document: a plan and a workload in the input format of ``assay-exec``.

docs/reference/assay-exec.md defines the format. Pure: the environment of the launch is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from assay.launch.command import command_of
from assay.launch.observations import (
    counted_events,
    has_memory_objective,
    optional_observations,
    required_observations,
)
from assay.launch.preload import preload_objects
from assay.records import (
    Affinity,
    AffinityCalls,
    EnvSet,
    EnvUnset,
    IoPriority,
    Launch,
    MemPolicy,
    Plan,
    Prctl,
    Preload,
    RestrictedCpuView,
    Rlimit,
    Sched,
    Stage,
    Unpreload,
    Workload,
)
from assay.records.codec import SCHEMA
from assay.records.observation import DEFAULT_OBSERVATIONS, Observation
from assay.settings.list_variables import LIST_VARIABLES, TUNABLES, merge, names_in

ISA = "cpu.isa"
"""Setting that is verified by the core type which OpenBLAS reports."""

PAD = "ASSAY_ENVIRONMENT_PAD"
"""Variable whose length moves the stack. The size of the environment alone has changed run times by
several per cent (Mytkowicz et al., ASPLOS 2009), so that no claim may depend on one size."""

GRACE_S = 10.0
"""Default time, in seconds, between the request to end and the kill; the same as for docker
stop."""

MEMORY_SHARE = 0.05
"""Largest share of the run time for memory samples if memory is the objective: ten times the
default, so that fewer peaks between two samples are missed."""

PROGRESS_VARIABLES = ("ASSAY_PROGRESS_FD", "ASSAY_PROGRESS_INODE", "ASSAY_PROGRESS_PATH")
"""Variables that the launcher sets for a program whose progress assay reads."""

INSTANCE_NUMBER, INSTANCE_COUNT = "ASSAY_INSTANCE", "ASSAY_INSTANCES"
"""Variables with the number of an instance and the number of all instances."""

_BRIEF = ("status", "environ", "maps")
_CHEAP = (*_BRIEF, "threads")
_UNTIMED = ("smaps", "numa_maps")
"""Further readings for untimed launches: memory placement and page sizes."""
_HUGE = frozenset({"thp", "malloc.hugepages"})
"""Settings that are verified by the huge pages of the program."""
_REAL_TIME = ("priority", "runtime_ns", "period_ns")
_MAP_NAMES = (
    # Mapped in every dynamic program: it shows that the maps were read, even without other matches.
    "ld-linux",
    "jemalloc",
    "tcmalloc",
    "tbbmalloc",
    "mimalloc",
    "libgomp",
    "libomp",
    "libiomp",
    "blas",
    "libmkl",
    "libblis",
    "libassay-tier",
)
"""Shared objects that verify settings."""


def readback_sources(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of ``/proc`` to read back where settings of these names vary.

    A study reads the same files in all arms, the default included, since reading slows the program
    down: ``smaps`` and ``numa_maps`` delay its page faults.
    """
    varied = set(names)
    smaps = ("smaps",) if _HUGE & varied else ()
    numa_maps = ("numa_maps",) if "mem.policy" in varied else ()
    return (*_CHEAP, *smaps, *numa_maps)


def launcher_document(
    plan: Plan,
    workload: Workload,
    launch: Launch,
    *,
    env: Mapping[str, str],
    stdout: str | None = None,
    stderr: str | None = None,
    progress: str | None = None,
    cgroup_name: str | None = None,
    parent_pid: int | None = None,
    varied: Iterable[str] | None = None,
    observe: Iterable[Observation] | None = None,
    sample_interval_s: float | None = None,
    signals: Literal["end", "leave"] = "end",
    process_group: Literal["caller", "own"] = "caller",
    measured: bool = False,
    briefly: bool = False,
) -> dict[str, Any]:
    """Return the document of one launch.

    Args:
        plan: plan without refused settings.
        workload: program to run.
        launch: source of the time limit. A survey reads all files back, and asks OpenBLAS for its
            core type.
        env: environment of the launcher.
        stdout: file for standard output; inherited if absent.
        stderr: file for standard error; inherited if absent. Each of several instances writes to
            files with its number (``instance_stream``), and reads only an input file.
        progress: FIFO for the progress of the program, which this process must have opened for
            reading; no progress is reported if absent.
        cgroup_name: name of the leaf control group.
        parent_pid: expected parent; the launcher ends if its parent is another process.
        varied: names of the settings that differ between the arms of a study; those of the plan if
            absent. All arms have the same read-back and the same other variables.
        observe: observations of a measured launch; the default ones if absent. Observations that
            the metrics and the varied settings require are added.
        sample_interval_s: longest interval between two memory samples, in seconds.
        signals: effect of catchable signals on the launcher: ``end`` ends the process tree,
            ``leave`` leaves them to the program.
        process_group: ``caller`` shares the group of the caller, as the foreground of a terminal
            requires; with ``own``, ``kill 0`` in a script ends only its launch.
        measured: whether the launch belongs to a study. Then it writes no core file, which would
            take time, and ends as soon as the kernel kills one of its processes for lack of memory.
            Its program does not report its progress to an outer assay.
        briefly: whether to omit threads and page tables from the read-back, where only refusals
            matter.

    Raises:
        NotPossibleError: a setting of the plan is refused.
        InvalidInputError: a placeholder is missing from the command.
    """
    plan.demand_granted()
    several = plan.instances
    survey = launch.stage is Stage.SURVEY
    names = set(plan.configuration if varied is None else varied)
    # OpenBLAS reports on standard error. If assay does not read it, the user would see the report.
    asks_core = stderr is not None and (survey or ISA in names)
    unset = unset_variables(plan)
    kept = {name: value for name, value in env.items() if name not in unset}
    given = {name: text for name, text in workload.environment.items() if name not in unset}
    variables = {**given, **_environment(plan, kept)}
    exported = _with_openblas_report(variables, kept) if asks_core else variables
    by_choice = optional_observations(launch, observe)
    on = by_choice | required_observations(workload, names)
    document = {
        "schema": SCHEMA,
        "argv": list(command_of(plan, workload, several[0][0] if several else None)),
        "env_set": exported,
        "env_unset": _unset(plan, variables, env, PROGRESS_VARIABLES if measured else ()),
        "cwd": workload.cwd,
        "stdin": workload.stdin or "/dev/null",
        "stdout": None if several else stdout,
        "stderr": None if several else stderr,
        "progress": progress,
        "instances": _instances(plan, workload, stdout, stderr),
        "timeout_s": _timeout_s(launch, workload),
        **(_ending(launch, workload) if measured else {}),
        "limits": _limits(workload),
        "cgroup_name": cgroup_name,
        "parent_pid": parent_pid,
        "sample_interval_s": sample_interval_s,
        "signals": signals if signals != "end" else None,
        "process_group": process_group if process_group != "caller" else None,
        "core_files": "none" if measured else None,
        "memory_kills": "end" if measured else None,
        "counters": [
            *(["default"] if Observation.COUNTERS in by_choice else []),
            *counted_events(workload),
        ],
        **_sampling(on, workload),
        **(
            _read_back(
                names, variables, _inherited(names, unset, kept), survey=survey, briefly=briefly
            )
            if Observation.READBACK in on
            else {}
        ),
        **_process(plan),
    }
    empty: tuple[object, ...] = (None, {}, [])
    return {
        key: value for key, value in document.items() if key == "sampling" or value not in empty
    }


def padded(document: Mapping[str, Any], pad_bytes: int) -> dict[str, Any]:
    """Return a document with an environment of another size.

    Args:
        document: document of a launch.
        pad_bytes: length of the padding variable.
    """
    return {**document, "env_set": {**document.get("env_set", {}), PAD: "x" * pad_bytes}}


def instance_stream(stream: str, instance: int) -> str:
    """Return the output file of an instance; ``stream`` is that of a single program."""
    return f"{stream}.{instance}"


def instance_variables(plan: Plan, instance: int) -> dict[str, str]:
    """Return the variables that identify an instance."""
    return {INSTANCE_NUMBER: str(instance), INSTANCE_COUNT: str(plan.total_instances)}


def _instances(
    plan: Plan, workload: Workload, stdout: str | None, stderr: str | None
) -> list[dict[str, Any]]:
    """Return the command, variables, CPUs and streams of each of several instances."""
    found = []
    for number, cpus in plan.instances:
        own: dict[str, Any] = {
            "argv": list(command_of(plan, workload, number)),
            "env_set": instance_variables(plan, number),
            "affinity": list(cpus),
        }
        for name, path in (("stdout", stdout), ("stderr", stderr)):
            if path is not None:
                own[name] = instance_stream(path, number)
        found.append(own)
    return found


def _tunables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names under which parts of the list of tunables may be read back."""
    return names_in(TUNABLES, variables.get(TUNABLES, ""))


def _sampling(on: frozenset[Observation], workload: Workload) -> dict[str, Any]:
    """Return the samples to take and their largest cost, where these are not the defaults."""
    sampled = [str(observation) for observation in DEFAULT_OBSERVATIONS if observation in on]
    found: dict[str, Any] = (
        {} if len(sampled) == len(DEFAULT_OBSERVATIONS) else {"sampling": sampled}
    )
    if has_memory_objective(workload):
        found["sampling_share"] = MEMORY_SHARE
    return found


def _read_back(
    names: set[str],
    variables: Mapping[str, str],
    unset: Iterable[str],
    *,
    survey: bool,
    briefly: bool,
) -> dict[str, Any]:
    """Return the read-back keys of the document.

    Args:
        names: settings that differ between the arms.
        variables: variables that the launch sets.
        unset: other variables whose absence or presence verifies settings.
        survey: whether the launch is untimed, so that all files may be read.
        briefly: whether to take only the cheapest readings.
    """
    read = _BRIEF if briefly else (*readback_sources(names), *(_UNTIMED if survey else ()))
    return {
        "readback": list(dict.fromkeys(read)),
        "environ_names": sorted({*variables, *unset, *_tunables(variables)}),
        "map_names": None if survey else list(_MAP_NAMES),
    }


def _inherited(names: set[str], unset: Iterable[str], inherited: Mapping[str, str]) -> set[str]:
    """Return the variables whose absence or presence verifies settings."""
    found = set(unset)
    if any(name.startswith("inherited.") for name in names):
        from assay.settings.inherited import inherited_in  # a run without such a setting needs none

        found |= inherited_in(names)
    return {*found, *_tunables(inherited)} if TUNABLES in found else found


def _environment(plan: Plan, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the plan sets, merged with the inherited values of shared lists."""
    variables = {a.name: a.value for a in plan.actions if isinstance(a, EnvSet)}
    for name in LIST_VARIABLES.keys() & variables.keys():
        # A list from env.NAME replaces the inherited one.
        if f"env.{name}" not in plan.configuration:
            variables[name] = merge(name, env.get(name, ""), variables[name])
    if any(isinstance(a, (Preload, Unpreload)) for a in plan.actions):
        before = variables.get("LD_PRELOAD", env.get("LD_PRELOAD", ""))
        objects = preload_objects(plan, before)
        variables.pop("LD_PRELOAD", None)
        if objects:
            variables["LD_PRELOAD"] = ":".join(objects)
    return variables


def unset_variables(plan: Plan) -> tuple[str, ...]:
    """Return the inherited variables that a plan removes from the environment."""
    return tuple(action.name for action in plan.actions if isinstance(action, EnvUnset))


def _unset(
    plan: Plan, variables: Mapping[str, str], env: Mapping[str, str], others: Iterable[str]
) -> list[str]:
    """Return the inherited variables that the launcher removes and the plan does not set again.

    Args:
        plan: plan of the launch.
        variables: variables that the launch sets.
        env: inherited variables.
        others: further variables to remove.
    """
    names = [*unset_variables(plan), *others]
    if any(isinstance(action, Unpreload) for action in plan.actions):
        names.append("LD_PRELOAD")
    return [name for name in dict.fromkeys(names) if name in env and name not in variables]


def _with_openblas_report(variables: dict[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables, with OpenBLAS's report of its core enabled."""
    if "OPENBLAS_VERBOSE" in env or "OPENBLAS_VERBOSE" in variables:
        return variables
    return {**variables, "OPENBLAS_VERBOSE": "2"}


def _timeout_s(launch: Launch, workload: Workload) -> float | None:
    caps = [cap for cap in (launch.timeout_s, workload.timeout_s) if cap is not None]
    return min(caps) if caps else None


def _ending(launch: Launch, workload: Workload) -> dict[str, Any]:
    """Return the grace period and the stop command of a launch; empty for an immediate kill.

    If assay stops a launch at its own time limit, the grace period is at most that limit. Otherwise
    a program that ignores SIGTERM would cost a search ten seconds per launch.
    """
    grace_s = workload.grace_s
    if grace_s is None:
        limit_s, cap_s = workload.timeout_s, launch.timeout_s
        own = cap_s is not None and (limit_s is None or cap_s < limit_s)
        grace_s = min(GRACE_S, cap_s) if own and cap_s is not None else GRACE_S
    if grace_s <= 0:
        return {}
    return {"grace_s": grace_s, "stop": list(workload.hooks.stop)}


def _limits(workload: Workload) -> dict[str, int | float]:
    limits = workload.limits
    named = {
        "memory_bytes": limits.memory_bytes,
        "pids": limits.processes,
        "cpu_s": limits.cpu_s,
        "output_bytes": limits.output_bytes,
    }
    return {key: value for key, value in named.items() if value is not None}


def _present_fields(action: Sched | IoPriority, names: tuple[str, ...]) -> dict[str, Any]:
    named = {name: getattr(action, name) for name in names}
    return {name: value for name, value in named.items() if value is not None}


def _process(plan: Plan) -> dict[str, Any]:
    keys: dict[str, Any] = {"prctl": [], "rlimits": []}
    for action in plan.actions:
        match action:
            case Affinity(cpus=cpus):
                keys["affinity"] = list(cpus)
            case MemPolicy(mode=mode, nodes=nodes):
                keys["mempolicy"] = {"mode": mode} | ({"nodes": list(nodes)} if nodes else {})
            case Sched():
                keys["sched"] = _present_fields(action, ("policy", "nice", *_REAL_TIME))
            case IoPriority(io_class=io_class):
                keys["io_priority"] = {"class": io_class, **_present_fields(action, ("level",))}
            case Prctl(option=option, args=args):
                keys["prctl"].append({"option": option, "args": list(args)})
            case Rlimit(resource=resource, soft=soft, hard=hard):
                keys["rlimits"].append({"resource": resource, "soft": soft, "hard": hard})
            case RestrictedCpuView():
                keys["view"] = "own"
            case AffinityCalls(answer=answer):
                keys["affinity_calls"] = answer
            case _:
                pass
    return keys
