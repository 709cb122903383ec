"""Memory of the verbs that read a large study.

Each run reads 5,000 samples, with a limit in proportion. The slow test reads 100,000 samples in a
control group of 400 MB.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Formatter

import pytest
from benchmarks.scale.cost import command_cost
from benchmarks.scale.stores import write_compared, write_measured, write_searched
from command_line import CommandLine
from launching import CGROUPS, SESSION, needs_memory_controller

from rotation import others_in_turns

FEW, MANY = 5_000, 100_000
MB = 1_000_000
LIMIT_MB = 400
EXPORT_TIMEOUT_S = 300.0
READING_TIMEOUT_S = 1200.0
START_MB = 120
"""Memory that assay takes without samples."""
REPORT_MB = 300
"""Limit of a report: it draws 5,000 samples at most, so that few of them cost as much as many."""
READERS = {
    "report": "report {compared} -q -o {folder}/report.html",
    "picture": "report {compared} -q -o {folder}/report.svg",
    "report of a search": "report {searched} -q -o {folder}/search.html",
    "csv": "study export {compared} -q -o {folder}/study.csv",
    "series": "study export {compared} -q -o {folder}/study.series.csv",
    "json": "study export {compared} -q -o {folder}/study.json",
    "openmetrics": "study export {compared} -q -o {folder}/study.om",
    "bundle": "study export {searched} -q --bundle {folder}/search.zip",
    "verify": "study verify {bundle}",
    "show": "study show {compared}",
    "show --json": "study show {compared} --json",
    "show of a search": "study show {searched}",
    "compare": "study compare {compared} {measured}",
    "compare with a bundle": "study compare {bundle} {measured}",
    "prune": "study prune --keep-last 0",
    "thin": "study prune --keep-last 0 --samples thin",
    "remove": "study prune --keep-last 0 --samples remove",
    "compact": "study compact",
    "doctor": "doctor",
    "run": "run --from {searched} -q",
    "confirm": "study confirm {searched} -q --runs 40",
    "warm start": "tune -q --runs 20 --warm-start {searched} arg.s=0.02,0.01 -- sleep {{s}}",
    "plan of a sweep": "sweep --dry-run {plan}",
    "finished": "study resume {measured} --json",
    "resume": "study resume {measured} -q --runs 20",
}
"""Verbs that read all samples, by name."""
SWEEP = """
[workload]
command = ["true"]
[settings]
"env.A" = [1, 2]
"""
REPORTS = ("report", "report of a search")
MODELLING = ("bundle", "show of a search", "thin", "remove", "warm start")
"""Verbs that fit the model of a search again, to at most 1,000 of its launches."""
MODEL_MB = 80
RESUMING = ("resume",)
"""Verbs that compare the limit of memory with that of the study."""


@dataclass(frozen=True)
class LargeStudies:
    """Store with a large comparison and a large measurement of ``true``, and a large search."""

    cli: CommandLine
    samples: int

    @cached_property
    def compared(self) -> str:
        return write_compared(self.cli.store, self.samples)

    @cached_property
    def measured(self) -> str:
        return write_measured(self.cli.store, self.samples)

    @cached_property
    def searched(self) -> str:
        return write_searched(self.cli.store, self.samples)

    @cached_property
    def bundle(self) -> Path:
        path = self.cli.folder / "study.zip"
        answer = self.cli(
            "study", "export", self.compared, "--bundle", path, timeout_s=EXPORT_TIMEOUT_S
        )
        assert answer.status == 0, answer.err
        return path

    @cached_property
    def plan(self) -> Path:
        path = self.cli.folder / "sweep.toml"
        path.write_text(SWEEP)
        return path

    def words(self, reader: str) -> list[str]:
        """Return the words of a verb after ``assay``; write the studies that it reads."""
        template = READERS[reader]
        names = {name for _, name, _, _ in Formatter().parse(template) if name}
        with variables(self.cli):
            places = {
                name: self.cli.folder if name == "folder" else getattr(self, name)
                for name in names or {"compared"}
            }
        return template.format(**places).split()


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


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, assay_exec: Path) -> LargeStudies:
    """Provide studies of 5,000 samples."""
    return LargeStudies(CommandLine(assay_exec, tmp_path_factory.mktemp("few")), FEW)


@pytest.mark.parametrize("reader", others_in_turns(*READERS))
def test_reader_of_5000_samples_stays_below_its_share(few: LargeStudies, reader: str) -> None:
    words = few.words(reader)
    with variables(few.cli):
        cost = command_cost(words, few.cli.store)
    share_mb = START_MB + (LIMIT_MB - START_MB) * FEW / MANY
    share_mb += MODEL_MB if reader in MODELLING else 0
    assert cost.peak_mb < (REPORT_MB if reader in REPORTS else share_mb)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, assay_exec: Path) -> LargeStudies:
    """Provide studies of 100,000 samples."""
    return LargeStudies(CommandLine(assay_exec, tmp_path_factory.mktemp("many")), MANY)


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
@pytest.mark.parametrize("reader", [name for name in READERS if name not in RESUMING])
def test_reader_of_100000_samples_fits_into_400_mb(
    many: LargeStudies, limited_group: Path, reader: str
) -> None:
    words = many.words(reader)
    enter = f'echo $$ > {limited_group}/cgroup.procs && exec "$@"'
    cli = CommandLine(
        many.cli.launcher, many.cli.folder, many.cli.mark, prefix=("sh", "-c", enter, "sh")
    )
    answer = cli(*words, timeout_s=READING_TIMEOUT_S)
    assert answer.status in (0, 1), answer.err


@pytest.mark.slow
def test_resumption_of_100000_samples_takes_less_than_400_mb(many: LargeStudies) -> None:
    # A study is not resumed in a control group with another limit of memory.
    words = many.words("resume")
    with variables(many.cli):
        cost = command_cost(words, many.cli.store)
    assert cost.peak_mb < LIMIT_MB
