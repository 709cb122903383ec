"""Bench: what all parts of one call share."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine

from .results import About, Machine
from .ways import Place

LIBRARY = Path(__file__).with_name("filemap.cpp")


@dataclass(frozen=True)
class Bench:
    """What was asked for, and where it is measured.

    Attributes:
        folder: on the disk that is measured.
        dram_bytes: of a program that has all of it.
        rounds: of each part that is measured in rounds.
        seconds: of each way, beside the passes that are not timed.
        budget_s: of the efficiencies.
        quick: whether it is only seen that everything runs.
        date: on which it began, as in ISO 8601.
        load: averages over 1, 5 and 15 minutes before anything ran (proc_loadavg(5)).
    """

    folder: Path
    dram_bytes: int
    rounds: int
    seconds: float
    budget_s: float
    quick: bool
    date: str
    load: tuple[float, float, float]

    def about(self, rounds: int) -> About:
        """How a part was measured that has so many rounds."""
        found = read_machine()
        return About(
            date=self.date,
            assay=__version__,
            machine=Machine(
                model=found.model or "an unnamed processor",
                cpus=len(found.cpus),
                kernel=found.kernel.partition("-")[0],
            ),
            rounds=rounds,
            dram_bytes=self.dram_bytes,
            load=self.load,
        )

    def place(self, of_dram: float) -> Place:
        """For data of so many times the memory, at most.

        Raises:
            subprocess.CalledProcessError: the library that maps files cannot be built.
        """
        filemap = self.folder / "filemap.so"
        shared = ("-O2", "-std=c++20", "-shared", "-fPIC")
        subprocess.run(["g++", *shared, "-o", filemap, LIBRARY], check=True)
        return Place(self.folder, self.dram_bytes, int(of_dram * self.dram_bytes), filemap)
