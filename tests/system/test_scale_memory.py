"""Memory of the verbs that read a large study.

Each run reads 5,000 samples, with a limit in proportion. The slow test reads 100,000 samples in a
control group of 400 MB.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.scale.cost import command_cost
from benchmarks.scale.stores import write_compared, write_measured
from command_line import CommandLine
from launching import CGROUPS, SESSION, needs_memory_controller

from rotation import others_in_turns

FEW, MANY = 5_000, 100_000
MB = 1_000_000
LIMIT_MB = 400
START_MB = 120
"""Memory that assay takes without samples."""
REPORT_MB = 300
"""Limit of a report: it draws 5,000 samples at most, so that few of them cost as much as many."""
READERS = {
    "report": "report {study} -q -o {folder}/report.html",
    "csv": "study export {study} -q -o {folder}/study.csv",
    "json": "study export {study} -q -o {folder}/study.json",
    "openmetrics": "study export {study} -q -o {folder}/study.om",
    "bundle": "study export {study} -q --bundle {folder}/study.zip",
    "show": "study show {study}",
    "show --json": "study show {study} --json",
    "thin": "study prune --keep-last 0 --samples thin",
    "resume": "study resume {resumed} -q --runs 20",
}
"""Verbs that read all samples, by name."""


@dataclass(frozen=True)
class LargeStudies:
    """Store with a large comparison and a large measurement of ``true``."""

    cli: CommandLine
    study: str
    resumed: str

    def words(self, reader: str) -> list[str]:
        """Return the words of a verb after ``assay``."""
        places = {"study": self.study, "resumed": self.resumed, "folder": self.cli.folder}
        return READERS[reader].format(**places).split()


@contextlib.contextmanager
def variables(cli: CommandLine) -> Iterator[None]:
    """Give this process the environment and the working folder of a command line."""
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - set(cli.env):
            patch.delenv(name)
        for name, value in cli.env.items():
            patch.setenv(name, value)
        patch.chdir(cli.folder)
        yield


def written(folder: Path, launcher: Path, samples: int) -> LargeStudies:
    """Write studies of so many samples."""
    cli = CommandLine(launcher, folder)
    with variables(cli):
        resumed = write_measured(cli.store, samples)
        return LargeStudies(cli, write_compared(cli.store, samples), resumed)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, assay_exec: Path) -> LargeStudies:
    """Provide studies of 5,000 samples."""
    return written(tmp_path_factory.mktemp("few"), assay_exec, FEW)


@pytest.mark.parametrize("reader", others_in_turns(*READERS))
def test_reader_of_5000_samples_stays_below_its_share(few: LargeStudies, reader: str) -> None:
    with variables(few.cli):
        cost = command_cost(few.words(reader), few.cli.store)
    share_mb = START_MB + (LIMIT_MB - START_MB) * FEW / MANY
    assert cost.peak_mb < (REPORT_MB if reader == "report" else share_mb)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, assay_exec: Path) -> LargeStudies:
    """Provide studies of 100,000 samples."""
    return written(tmp_path_factory.mktemp("many"), assay_exec, MANY)


@pytest.fixture
def limited_group() -> Iterator[Path]:
    """Provide a control group with the limit, and without swap."""
    v2 = (CGROUPS / "cgroup.procs").exists()
    folder = (CGROUPS if v2 else CGROUPS / "memory") / f"{SESSION}-scale"
    limits = {"memory.max": LIMIT_MB * MB, "memory.swap.max": 0}
    if not v2:
        limits = dict.fromkeys(
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), LIMIT_MB * MB
        )
    try:
        folder.mkdir()
        for file, number in limits.items():
            with contextlib.suppress(FileNotFoundError):  # without accounting of swap
                (folder / file).write_text(str(number))
        yield folder
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


@pytest.mark.slow
@pytest.mark.system
@needs_memory_controller
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"resume"}))
def test_reader_of_100000_samples_fits_into_400_mb(
    many: LargeStudies, limited_group: Path, reader: str
) -> None:
    enter = f'echo $$ > {limited_group}/cgroup.procs && exec "$@"'
    cli = CommandLine(
        many.cli.launcher, many.cli.folder, many.cli.mark, prefix=("sh", "-c", enter, "sh")
    )
    answer = cli(*many.words(reader), timeout_s=300.0)
    assert answer.status in (0, 1), answer.err


@pytest.mark.slow
def test_resumption_of_100000_samples_takes_less_than_400_mb(many: LargeStudies) -> None:
    # A study is not resumed in a control group with another limit of memory.
    with variables(many.cli):
        cost = command_cost(many.words("resume"), many.cli.store)
    assert cost.peak_mb < LIMIT_MB
