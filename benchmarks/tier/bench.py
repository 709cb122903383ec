"""State that all parts of one call share."""

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
    """Parameters of a call.

    Attributes:
        folder: folder on the measured disk.
        dram_bytes: memory of a program.
        rounds: number of rounds of each part.
        seconds: duration of each way, without the untimed passes.
        budget_s: budget of part efficiency.
        quick: true for a smoke test.
        date: start date, as in ISO 8601.
        load: load averages over 1, 5 and 15 minutes before the start (proc_loadavg(5)).
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
        """Return the circumstances of a part with the given number of rounds."""
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
        """Return the place of data of at most the given multiple of the memory.

        Raises:
            subprocess.CalledProcessError: the library that maps files cannot be built.
        """
        filemap = self.folder / "filemap.so"
        shared = ("-O2", "-std=c++20", "-shared", "-fPIC")
        subprocess.run(["g++", *shared, "-o", filemap, LIBRARY], check=True)
        return Place(self.folder, self.dram_bytes, int(of_dram * self.dram_bytes), filemap)
