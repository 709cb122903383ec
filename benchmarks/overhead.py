"""What a launch costs, and whether its time is right, beside taskset, numactl and hyperfine.

    python benchmarks/overhead.py            300 rounds, a few minutes
    python benchmarks/overhead.py --smoke    a few rounds: does it still run?

All launchers of one table run interleaved, each round beginning with another one, from a small
C++ program (`benchmarks/native/spawnwait.cpp`): posix_spawn, wait, CLOCK_MONOTONIC.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.launch.driver import Driver, find_launcher
from assay.machine.reader import read_machine
from assay.measure.executor import LocalExecutor
from assay.records import DEFAULT, Budget, Kind, Launch, Stage, StudySpec, Workload
from assay.settings.registry import builtin
from assay.store import Store, open_store
from assay.study.session import Laboratory
from assay.study.stratum import stratum_of

NATIVE = Path(__file__).parent / "native"


@dataclass(frozen=True)
class Row:
    """One line of a table: quantiles in microseconds."""

    name: str
    p10: float
    p25: float
    p50: float
    p75: float


def build(folder: Path) -> None:
    """Compile the two small programs."""
    for name in ("spawnwait", "spin"):
        subprocess.run(
            ["g++", "-O2", "-std=c++20", "-static", "-o", folder / name, NATIVE / f"{name}.cpp"],
            check=True,
        )


def interleaved(
    folder: Path, rounds: int, commands: list[list[str]], record_of: int = 0
) -> list[Row]:
    """Quantiles of each command, one more line where a record's own time is asked for."""
    words = [str(folder / "spawnwait")]
    if record_of:
        words += ["--record-of", str(record_of)]
    words.append(str(rounds))
    for command in commands:
        words += ["---", *command]
    answer = subprocess.run(words, check=True, capture_output=True, text=True)
    rows = []
    for line in answer.stdout.splitlines()[1:]:
        p10, p25, p50, p75, name = line.split(maxsplit=4)
        # Paths are this machine's own affair; the last part tells which plan it was.
        words = [word.rsplit("/", 1)[-1] for word in name.split()]
        rows.append(Row(" ".join(words), float(p10), float(p25), float(p50), float(p75)))
    return rows


def print_table(title: str, rows: list[Row], baseline: float) -> None:
    """As Markdown."""
    print(f"\n### {title}\n")
    print("| command | 10 % | 25 % | median | 75 % | median over the first, ms |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        cells = " | ".join(f"{v / 1000:.3f}" for v in (row.p10, row.p25, row.p50, row.p75))
        name = row.name.replace("|", "\\|")
        print(f"| `{name}` | {cells} | {(row.p50 - baseline) / 1000:+.3f} |")


def in_front_of_true(folder: Path, launcher: str, rounds: int) -> None:
    """What it costs to put each launcher in front of a program that does nothing."""
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    # A plan for a file, so that the whole document is parsed and the record written.
    none, full = folder / "none.json", folder / "full.json"
    plan = {"schema": 1, "argv": ["/bin/true"]}
    none.write_text(json.dumps({**plan, "containment": "none"}))
    full.write_text(json.dumps({**plan, "observe": ["status", "environ", "maps", "threads"]}))
    record = ["--record", "/dev/shm/spawnwait.json"]
    commands = [
        ["/bin/true"],
        *([["taskset", "-c", cpus, "/bin/true"]] if shutil.which("taskset") else []),
        *([["numactl", "--localalloc", "/bin/true"]] if shutil.which("numactl") else []),
        [launcher, "--plan", str(none), *record],
        [launcher, "--plan", str(full), *record],
        [launcher, "--", "/bin/true"],
    ]
    rows = interleaved(folder, rounds, commands)
    print_table("In front of /bin/true (ms)", rows, rows[0].p50)


def known_spin(folder: Path, launcher: str, rounds: int, milliseconds: int) -> None:
    """Whether the time that the record gives is that of plain spawn and wait."""
    plan = folder / "spin.json"
    spin = [str(folder / "spin"), str(milliseconds)]
    plan.write_text(
        json.dumps({"schema": 1, "argv": spin, "observe": ["status", "environ", "maps", "threads"]})
    )
    record = ["--record", "/dev/shm/spawnwait.json"]
    commands = [spin, [launcher, "--plan", str(plan), *record]]
    rows = interleaved(folder, rounds, commands, record_of=2)
    print_table(f"A spin of {milliseconds} ms (ms)", rows, rows[0].p50)
    bias_ms = (rows[2].p50 - rows[0].p50) / 1000
    print(f"\nReported minus plain spawn and wait, medians: {bias_ms:+.3f} ms (target: 0.1)")
    if shutil.which("hyperfine"):
        print(f"hyperfine -N says: {hyperfine_ms(spin, rounds):.3f} ms (median)")


def hyperfine_ms(command: list[str], rounds: int) -> float:
    """Median that hyperfine reports without a shell."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(
            [
                *("hyperfine", "-N", "--runs", str(max(rounds, 10)), "--style", "none"),
                *("--export-json", file.name, " ".join(command)),
            ],
            check=True,
            capture_output=True,
        )
        found = json.loads(Path(file.name).read_text())
    return float(found["results"][0]["median"]) * 1000


def stored_sample(rounds: int) -> None:
    """What a sample costs beyond the program: plan, launcher, judging, the row in SQLite."""
    machine, registry = read_machine(), builtin()
    lab = Laboratory(machine, registry, Driver(find_launcher(os.environ), os.environ))
    workload = Workload(argv=("/bin/true",))
    spec = StudySpec(kind=Kind.MEASURE, workload=workload, budget=Budget(launches=rounds))
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(Path(folder) / "bench.db") as store,
        LocalExecutor(workload, lab.driver, registry) as executor,
    ):
        study = store.create_study(spec, stratum_of(0, machine, None, lab.driver.env), time.time())
        extra_ms = list(_samples(executor, store, study, lab, rounds))
    usual = statistics.median(extra_ms)
    tenths = statistics.quantiles(extra_ms, n=10)
    print(
        f"\n### A stored sample\n\nBeyond the program itself: median {usual:.2f} ms, "
        f"p10 {tenths[0]:.2f}, p90 {tenths[-1]:.2f} over {rounds} samples (target: 2 ms)"
    )


def _samples(
    executor: LocalExecutor, store: Store, study: str, lab: Laboratory, rounds: int
) -> Iterator[float]:
    plan = lab.plan(DEFAULT)
    for number in range(rounds):
        # One block: the speed probe counts to the block, not to the sample.
        launch = Launch(
            configuration=DEFAULT, arm="default", stage=Stage.CONFIRM, block=0, position=number
        )
        began = time.perf_counter()
        executor.submit(launch, plan)
        sample = executor.poll(None)[0]
        store.add_sample(study, 0, sample)
        yield (time.perf_counter() - began - (sample.wall_s or 0.0)) * 1000


def main() -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--smoke", action="store_true", help="a few rounds only")
    arguments = parser.parse_args()
    rounds = 8 if arguments.smoke else arguments.rounds
    launcher = str(find_launcher(os.environ))
    machine = read_machine()
    print(f"{time.strftime('%Y-%m-%d')}, {machine.model}, {len(machine.allowed)} CPUs, ", end="")
    print(f"Linux {platform.release()}, control groups {machine.cgroup}, {rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        in_front_of_true(folder, launcher, rounds)
        for milliseconds in (1, 20) if not arguments.smoke else (1,):
            known_spin(folder, launcher, rounds, milliseconds)
    stored_sample(rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
