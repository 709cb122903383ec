"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import os
import resource
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine

from . import __doc__ as description
from .levels import SAFETY, levels
from .page import PAGE, rewritten
from .table import QUICK, Sizes, document

LEAST = 2000
"""Studies a row of any table that is written to the page."""


def main() -> None:
    """Parse, simulate, print."""
    options = _parsed()
    if options.levels:
        for alpha, gain in levels(100_000, 2000, options.seed):
            safe = SAFETY * gain
            print(f"alpha {alpha:<7g} level / alpha {gain:.3f}, less 8 %: {safe:.3f}")
        return
    sizes = (
        QUICK
        if options.quick
        else Sizes(studies=options.studies, fewer=max(LEAST, options.studies // 4))
    )
    tables = document(sizes, options.seed, options.recorded, options.jobs)
    text = f"{_when(options)}\n\n{tables}"
    print(text)
    if options.write:
        PAGE.write_text(rewritten(PAGE.read_text(), text))


def _when(options: argparse.Namespace) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    model = read_machine().model or "an unnamed processor"
    return (
        f"Results of {today}, assay {__version__}, seed {options.seed}. They depend on the seed "
        f"only. The simulation took {_used_s() / 60:.0f} minutes of processor time on {model}."
    )


def _used_s() -> float:
    """Processor time of this process and of those that it started."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_utime for kind in kinds)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verdicts",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--studies", type=int, default=Sizes.studies, help="a row (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="all figures follow from it (1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (all CPUs)"
    )
    parser.add_argument("--quick", action="store_true", help="few studies: does it still run?")
    parser.add_argument(
        "--write", action="store_true", help=f"put the tables into docs/{PAGE.name}"
    )
    parser.add_argument("--levels", action="store_true", help="print the levels instead")
    parser.add_argument(
        "--recorded",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="tables of repeats (columns t0, t1, ...), as identical arms",
    )
    options = parser.parse_args()
    if options.write and (options.quick or options.studies < LEAST):
        parser.error(f"--write takes tables of at least {LEAST} studies a row")
    return options


if __name__ == "__main__":
    main()
