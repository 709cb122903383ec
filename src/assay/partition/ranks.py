"""Ranks: which of the processes of a parallel job on this host this one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_COUNTS = (
    "MPI_LOCALNRANKS",  # MPICH and Intel MPI (hydra)
    "OMPI_COMM_WORLD_LOCAL_SIZE",  # Open MPI
    "MV2_COMM_WORLD_LOCAL_SIZE",  # MVAPICH2
    "PALS_LOCAL_SIZE",  # Cray PALS
    "SLURM_NTASKS_PER_NODE",  # srun, where it was asked for
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
    """One of the processes of a job on a host.

    Attributes:
        number: which one, from 0.
        count: how many there are; ``None`` where the starter does not say.
    """

    number: int
    count: int | None = None


@dataclass(frozen=True)
class RankLayout:
    """Where the ranks of a job lie: each has one of the equal, consecutive parts of a partition.

    Attributes:
        rank: this one; it says how many there are.
        stride: ranks so far apart are neighbours (1: consecutive ones are); ``None``: as many as
            the partition has NUMA nodes, so that consecutive ranks lie in different ones.
    """

    rank: LocalRank
    stride: int | None = 1

    def place(self, nodes: int) -> int:
        """Which part this rank has, from 0.

        Args:
            nodes: NUMA nodes of the partition.
        """
        stride = self.stride or nodes
        ranks = range(self.rank.count or 1)
        return sorted(ranks, key=lambda rank: (rank % stride, rank)).index(self.rank.number)


def local_rank(env: Mapping[str, str]) -> LocalRank | None:
    """What the starter of a parallel job says; ``None`` outside of one.

    Starters nest (srun starts mpirun): the innermost, which comes first here, is believed.
    """
    number = _first(env, _RANKS)
    if number is None:
        return None
    count = _first(env, _COUNTS)
    return LocalRank(number, count if count and count > number else None)


def _first(env: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    texts = (env.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdecimal()), None)
