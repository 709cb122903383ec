"""The launcher's document: a plan and a workload as ``assay-exec`` reads them.

The format is that of docs/reference/assay-exec.md.
Pure: the environment that the launch starts from is an argument.
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
    OwnView,
    Plan,
    Prctl,
    Preload,
    Rlimit,
    Sched,
    Stage,
    Unpreload,
    Workload,
)
from assay.records.observation import USUAL, Observation
from assay.settings.joined import JOINED, TUNABLES, merge, names_in

ISA = "cpu.isa"
"""The setting that is judged by what OpenBLAS says of its core."""

PAD = "ASSAY_ENVIRONMENT_PAD"
"""Variable whose length moves the stack: the size of the environment alone has changed run times
by several per cent (Mytkowicz et al., ASPLOS 2009), so that a claim must not hang on one."""

GRACE_S = 10.0
"""What a launch usually has between being asked to end and being killed; so has docker stop."""

MEMORY_SHARE = 0.05
"""Largest share of the time that samples may take where memory is the objective: ten times the
usual one, so that fewer peaks between two samples are missed."""

INSTANCE_NUMBER, INSTANCE_COUNT = "ASSAY_INSTANCE", "ASSAY_INSTANCES"
"""Variables with the number of an instance, and how many there are."""

_BRIEF = ("status", "environ", "maps")
_CHEAP = (*_BRIEF, "threads")
_UNTIMED = ("smaps", "numa_maps")
"""Read as well where time does not count: where the memory lies, and in pages of which size."""
_HUGE = frozenset({"thp", "malloc.hugepages"})
"""Settings that are judged by the huge pages that were got."""
_REAL_TIME = ("priority", "runtime_ns", "period_ns")
_MAP_NAMES = (
    # In every dynamic program: without it, maps that hold none of the others would look unread.
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
"""Shared objects by which settings are judged."""


def readback_sources(names: Iterable[str]) -> tuple[str, ...]:
    """What to read back where settings of these names vary.

    A study reads the same from all its arms, the default included, since reading costs the program
    time: ``smaps`` and ``numa_maps`` hold up its page faults.
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
    """The document for one launch.

    Args:
        plan: none of its settings refused.
        workload: what runs.
        launch: gives the cap; a survey reads all there is, and asks OpenBLAS for the core it takes.
        env: the environment that the launcher is given.
        stdout: file for the output; inherited when absent, as ``stderr`` is.
        stderr: file for the error output. Of several instances each has files of its own, under
            these names and its number (``instance_stream``); they read nothing but an input.
        cgroup_name: of the leaf.
        parent_pid: the launcher ends itself if this is not its parent.
        varied: names of the settings that differ between the arms of a study; those of the plan
            when absent. All arms are read back alike, and told the same beside their settings.
        observe: observations of a launch that counts; the usual ones when absent. Those that the
            metrics and the varied settings need are added.
        sample_interval_s: longest distance between two memory samples.
        signals: what catchable signals to the launcher do: end the tree, or nothing, so that they
            are left to the program.
        process_group: that of the launcher's caller, as a terminal's foreground needs it, or one
            of the program's own: then ``kill 0`` in a script ends no more than its launch.
        measured: the launch is one of a study: it leaves no core file, which takes the kernel time,
            and ends at once where the kernel kills a process of it for memory.
        briefly: read back neither threads nor page tables, where only a refusal is of interest.

    Raises:
        NotPossibleError: a setting of the plan is refused.
        InvalidInputError: a placeholder is missing from the command.
    """
    plan.demand_granted()
    several = plan.instances
    survey = launch.stage is Stage.SURVEY
    names = set(plan.configuration if varied is None else varied)
    # It is said on standard error: where that is not read, it would be said to the user.
    asks_core = stderr is not None and (survey or ISA in names)
    gone = unset_variables(plan)
    kept = {name: value for name, value in env.items() if name not in gone}
    given = {name: text for name, text in workload.environment.items() if name not in gone}
    variables = {**given, **_environment(plan, kept)}
    told = _told(variables, kept) if asks_core else variables
    by_choice = optional_observations(launch, observe)
    on = by_choice | required_observations(workload, names)
    document = {
        "schema": 1,
        "argv": list(command_of(plan, workload, several[0][0] if several else None)),
        "env_set": told,
        "env_unset": _unset(plan, variables, env),
        "cwd": workload.cwd,
        "stdin": workload.stdin or "/dev/null",
        "stdout": None if several else stdout,
        "stderr": None if several else stderr,
        "instances": _instances(plan, workload, stdout, stderr),
        "cap_s": _cap_s(launch, workload),
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
                names, variables, _inherited(names, gone, kept), survey=survey, briefly=briefly
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
    """Return a document whose environment has another size.

    Args:
        document: of a launch.
        pad_bytes: length of a variable that is there for this alone.
    """
    return {**document, "env_set": {**document.get("env_set", {}), PAD: "x" * pad_bytes}}


def instance_stream(stream: str, instance: int) -> str:
    """The file for what an instance writes, where a single program would have ``stream``."""
    return f"{stream}.{instance}"


def instance_variables(plan: Plan, instance: int) -> dict[str, str]:
    """The variables by which an instance knows itself."""
    return {INSTANCE_NUMBER: str(instance), INSTANCE_COUNT: str(plan.instances_in_all)}


def _instances(
    plan: Plan, workload: Workload, stdout: str | None, stderr: str | None
) -> list[dict[str, Any]]:
    """What each of several instances has for its own."""
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
    """Names under which parts of the list of tunables may be read back."""
    return names_in(TUNABLES, variables.get(TUNABLES, ""))


def _sampling(on: frozenset[Observation], workload: Workload) -> dict[str, Any]:
    """Return what is sampled while the program runs, and how closely, where it is not the usual."""
    sampled = [str(one) for one in USUAL if one in on]
    found: dict[str, Any] = {} if len(sampled) == len(USUAL) else {"sampling": sampled}
    if has_memory_objective(workload):
        found["sampling_share"] = MEMORY_SHARE
    return found


def _read_back(
    names: set[str],
    variables: Mapping[str, str],
    gone: Iterable[str],
    *,
    survey: bool,
    briefly: bool,
) -> dict[str, Any]:
    """Return what is read back from the program.

    Args:
        names: of the settings that differ between the arms.
        variables: that the launch sets.
        gone: other variables by whose absence or presence settings are judged.
        survey: time does not count, so that all there is may be read.
        briefly: only the cheapest readings.
    """
    read = _BRIEF if briefly else (*readback_sources(names), *(_UNTIMED if survey else ()))
    return {
        "observe": list(dict.fromkeys(read)),
        "environ_names": sorted({*variables, *gone, *_tunables(variables)}),
        "map_names": None if survey else list(_MAP_NAMES),
    }


def _inherited(names: set[str], gone: Iterable[str], kept: Mapping[str, str]) -> set[str]:
    """Return the variables by whose absence or presence settings are judged."""
    found = set(gone)
    if any(name.startswith("inherited.") for name in names):
        from assay.settings.inherited import inherited_in  # a run without such a setting needs none

        found |= inherited_in(names)
    return {*found, *_tunables(kept)} if TUNABLES in found else found


def _environment(plan: Plan, env: Mapping[str, str]) -> dict[str, str]:
    """The variables that the plan sets, merged with what shared ones hold already."""
    variables = {a.name: a.value for a in plan.actions if isinstance(a, EnvSet)}
    for name in JOINED.keys() & variables.keys():
        # A list that the user gives by env.NAME stands for the inherited one.
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
    """Return the inherited variables that a plan takes out of the environment."""
    return tuple(action.name for action in plan.actions if isinstance(action, EnvUnset))


def _unset(plan: Plan, variables: Mapping[str, str], env: Mapping[str, str]) -> list[str]:
    """Return the inherited variables that the launcher takes out, and does not set anew."""
    names = list(unset_variables(plan))
    if any(isinstance(action, Unpreload) for action in plan.actions):
        names.append("LD_PRELOAD")
    return [name for name in dict.fromkeys(names) if name in env and name not in variables]


def _told(variables: dict[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """The same, with OpenBLAS asked for the core it takes; that is no part of the configuration."""
    if "OPENBLAS_VERBOSE" in env or "OPENBLAS_VERBOSE" in variables:
        return variables
    return {**variables, "OPENBLAS_VERBOSE": "2"}


def _cap_s(launch: Launch, workload: Workload) -> float | None:
    caps = [cap for cap in (launch.cap_s, workload.timeout_s) if cap is not None]
    return min(caps) if caps else None


def _ending(launch: Launch, workload: Workload) -> dict[str, Any]:
    """Return how a launch is asked to end before it is killed; nothing where it is killed at once.

    One that assay itself gives up, which no limit of the user does, has no longer than it had to
    run: a program that takes no notice of SIGTERM would cost a search ten seconds each time.
    """
    grace_s = workload.grace_s
    if grace_s is None:
        limit_s, cap_s = workload.timeout_s, launch.cap_s
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


def _given(action: Sched | IoPriority, names: tuple[str, ...]) -> dict[str, Any]:
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
                keys["sched"] = _given(action, ("policy", "nice", *_REAL_TIME))
            case IoPriority(io_class=io_class):
                keys["io_priority"] = {"class": io_class, **_given(action, ("level",))}
            case Prctl(option=option, args=args):
                keys["prctl"].append({"option": option, "args": list(args)})
            case Rlimit(resource=resource, soft=soft, hard=hard):
                keys["rlimits"].append({"resource": resource, "soft": soft, "hard": hard})
            case OwnView():
                keys["view"] = "own"
            case AffinityCalls(answer=answer):
                keys["affinity_calls"] = answer
            case _:
                pass
    return keys
