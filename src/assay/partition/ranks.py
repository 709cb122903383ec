"""Rank of this process among the processes of a parallel job on this host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SIZE_VARIABLES = (
    "MPI_LOCALNRANKS",  # MPICH and Intel MPI (hydra)
    "OMPI_COMM_WORLD_LOCAL_SIZE",  # Open MPI
    "MV2_COMM_WORLD_LOCAL_SIZE",  # MVAPICH2
    "PALS_LOCAL_SIZE",  # Cray PALS
    "SLURM_NTASKS_PER_NODE",  # srun, if requested
)
_RANKS = (
    "MPI_LOCALRANKID",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
)


@dataclass(frozen=True)
class LocalRank:
    """Rank of a process of a job on a host.

    Attributes:
        number: rank, from 0.
        count: number of ranks; ``None`` if the launcher does not report it.
    """

    number: int
    count: int | None = None


@dataclass(frozen=True)
class RankLayout:
    """Layout of the ranks of a job: each has one of the equal, consecutive parts of a partition.

    Attributes:
        rank: rank of this process, with a known count.
        stride: distance of the ranks that are neighbours (1: consecutive ranks). ``None``: number
            of NUMA nodes of the partition, so that consecutive ranks are on different nodes.
    """

    rank: LocalRank
    stride: int | None = 1

    def place(self, nodes: int) -> int:
        """Return the part of this rank, from 0.

        Args:
            nodes: number of NUMA nodes of the partition.
        """
        stride = self.stride or nodes
        ranks = range(self.rank.count or 1)
        return sorted(ranks, key=lambda rank: (rank % stride, rank)).index(self.rank.number)


def local_rank(env: Mapping[str, str]) -> LocalRank | None:
    """Return the rank that the launcher of a parallel job reports; ``None`` outside a job.

    Starters may be nested (srun starts mpirun): the innermost one, first in the list, counts.
    """
    number = _first(env, _RANKS)
    if number is None:
        return None
    count = _first(env, _SIZE_VARIABLES)
    return LocalRank(number, count if count and count > number else None)


def _first(env: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    texts = (env.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdecimal()), None)
