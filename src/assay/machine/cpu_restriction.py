"""Restriction by the caller's affinity mask: fewer CPUs than the host or the cpuset grants.

Interfaces: ``sched_setaffinity(2)``, which children inherit; ``proc_pid_stat(5)`` for parents. Open
MPI binds each process to a core by default (mpirun(1), "Mapping, Ranking, and Binding"), and so do
many batch systems.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list, show_numbers
from assay.machine.document import CpuRestriction
from assay.machine.process_stat import parse_process_stat
from assay.machine.root import Root

_MAX_PARENTS = 16
_OPEN_MPI = frozenset({"orted", "orterun", "prted", "prterun"})
_HYDRA = frozenset({"hydra_pmi_proxy", "mpiexec.hydra", "hydra_bstrap_pr"})
_REMEDIES: dict[str, str] = {
    "Open MPI": "start it by `mpirun --bind-to none`",
    "MPICH": "start it by `mpiexec -bind-to none`",
    "Slurm": "start it by `srun --cpu-bind=none`",
}


def read_restriction(
    root: Root, env: Mapping[str, str], granted: Collection[int], allowed: Collection[int]
) -> CpuRestriction | None:
    """Return the restriction by the caller's mask; ``None`` without one.

    Args:
        root: root of the host.
        env: environment of this process.
        granted: online CPUs of the cpuset.
        allowed: CPUs of these in the mask.
    """
    # Programs do not start on isolated CPUs, which is intended.
    whole = set(granted) - _isolated(root)
    if not whole - set(allowed):
        return None
    return CpuRestriction(
        granted_cpus=tuple(sorted(whole | set(allowed))), launcher=_launcher(root, env)
    )


def describe_restriction(narrowed: CpuRestriction, allowed: Collection[int]) -> str:
    """Return the restriction in words, with its source and a remedy."""
    by = f" by {narrowed.launcher}" if narrowed.launcher else ""
    remedy = _REMEDIES.get(
        narrowed.launcher or "", f"start it by `{taskset_command(narrowed.granted_cpus)}`"
    )
    return (
        f"limited to {show_numbers('CPU', allowed)} of {format_list(narrowed.granted_cpus)}:"
        f" assay was started with that mask{by}; {remedy} to use them all"
    )


def taskset_command(cpus: Collection[int]) -> str:
    """Return the command that removes a mask."""
    return f"taskset -c {format_list(cpus)} assay ..."


def _isolated(root: Root) -> set[int]:
    try:
        return set(parse_list(root.read_text("/sys/devices/system/cpu/isolated") or ""))
    except InvalidInputError:
        return set()


def _launcher(root: Root, env: Mapping[str, str]) -> str | None:
    """Return the launcher that set the mask, by the parent processes and its variables."""
    parents = _parents(root) if root.live else ()
    if not _OPEN_MPI.isdisjoint(parents) or "OMPI_COMM_WORLD_SIZE" in env:
        return "Open MPI"
    if not _HYDRA.isdisjoint(parents):
        return "MPICH"
    if "slurmstepd" in parents or "SLURM_CPU_BIND" in env:
        return "Slurm"
    if "mpirun" in parents or "mpiexec" in parents:
        return "Open MPI"
    return None


def _parents(root: Root) -> tuple[str, ...]:
    """Return the names of the parent processes."""
    found: list[str] = []
    at = "self"
    for _ in range(_MAX_PARENTS):
        stat = parse_process_stat(root.read_text(f"/proc/{at}/stat"))
        if stat is None:
            break
        found.append(posixpath.basename(stat.name))
        at = str(stat.parent)
    return tuple(found[1:])
