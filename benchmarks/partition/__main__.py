"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine

from . import __doc__ as description
from .measuring import Round, compress, input_file, measure
from .page import text
from .ways import PLAIN, RESERVED, WAYS, load, prepared

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "partition.md"
INPUT_BYTES = 8 << 20


def main() -> None:
    """Measure, and print or write the page."""
    options = _parsed()
    lacking = _lacking(quick=options.quick)
    if lacking:
        print(f"benchmarks.partition: nothing was measured: {lacking}")
        return
    if options.quick:
        found = _measured(1, 0.2, 2, options.cpu, ways=(PLAIN, RESERVED), workers=1)
        print(text(found, _heading(1, options.cpu)))
        return
    rounds, workers = options.rounds, len(os.sched_getaffinity(0))
    found = _measured(rounds, 4.0, 5, options.cpu, ways=WAYS, workers=workers)
    page = text(found, _heading(rounds, options.cpu))
    print(page)
    if options.write:
        PAGE.write_text(page)


def _measured(
    rounds: int, seconds: float, runs: int, cpu: int, *, ways: Sequence[str], workers: int
) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {way: [] for way in ways}
    order = list(ways)
    rng = random.Random(0)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        program = compress(input_file(folder, INPUT_BYTES))
        stack.enter_context(load(workers))
        for _ in range(rounds):
            rng.shuffle(order)
            for way in order:
                with prepared(way, cpu):
                    found[way].append(measure(way, cpu, seconds, runs, program))
    return found


def _lacking(*, quick: bool) -> str | None:
    """Return why this host cannot run it; the smoke run changes it only where tests may."""
    if quick and os.environ.get("ASSAY_TEST_SYSTEM") != "1":
        return "tests may not change this host (ASSAY_TEST_SYSTEM=1)"
    if os.geteuid() != 0:
        return "only root can create partitions"
    if len(os.sched_getaffinity(0)) < 2:
        return "two CPUs are required"
    needed = ("stress-ng", "taskset", "chrt", "xz")
    missing = [name for name in needed if shutil.which(name) is None]
    return f"{', '.join(missing)} is not installed" if missing else None


def _heading(rounds: int, cpu: int) -> str:
    machine = read_machine()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    model = machine.model or "an unnamed processor"
    return (
        f"Measured on {today} with assay {__version__} on {model}, {len(machine.cpus)} CPUs, "
        f"Linux {machine.kernel.partition('-')[0]}: {rounds} rounds on CPU {cpu}."
    )


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.partition",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rounds", type=int, default=12, help="number of rounds (default: %(default)s)"
    )
    parser.add_argument(
        "--cpu",
        type=int,
        default=max(os.sched_getaffinity(0)),
        help="CPU of the partition (default: the last one)",
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with one short round")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
