"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from assay.bundle.files import replace_atomically
from assay.errors import AssayError, InvalidInputError
from assay.tier.probe import probe
from assay.units import parse_duration_s

from . import __doc__ as description
from .bench import Bench
from .efficiency import pictures
from .page import text
from .parts import PARTS
from .results import SCHEMA, Results, read, shown

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Kept:
    """Files of the results, and of the page and pictures derived from them."""

    folder: Path
    stem: str

    def read(self) -> Results:
        """Return the stored results; empty without a file.

        Raises:
            InvalidInputError: as `read`.
        """
        file = self.folder / f"{self.stem}.json"
        return read(file) if file.exists() else Results(schema=SCHEMA)

    def write(self, results: Results) -> None:
        """Write all results; outdated pictures are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        drawn = {} if results.efficiency is None else pictures(results.efficiency)
        files = {f"{self.stem}.json": shown(results), f"{self.stem}.md": text(results), **drawn}
        for name, content in files.items():
            with replace_atomically(self.folder / name) as stream:
                stream.write(content.encode())
        for old in self.folder.glob("tier-efficiency-*.svg"):
            if old.name not in files:
                old.unlink()


DOCS = Kept(ROOT / "docs" / "benchmarks", "tier")
BUILD = Kept(ROOT / "build", "bench-tier")


def main() -> None:
    """Measure or read the results, store them, and print the page."""
    options = _parsed()
    kept = DOCS if options.write else BUILD
    if options.source is not None:
        results = read(options.source)
        kept.write(results)
    else:
        lacking = _lacking(quick=options.quick)
        if lacking:
            print(f"benchmarks.tier: nothing was measured: {lacking}")
            return
        with tempfile.TemporaryDirectory(dir=options.path) as folder:
            if options.quick:  # in a temporary folder
                kept = Kept(Path(folder), BUILD.stem)
            bench = _bench(Path(folder), options)
            results = measured(bench, options.part or list(PARTS), kept)
    print(text(results))


def measured(bench: Bench, names: Collection[str], kept: Kept) -> Results:
    """Measure part by part and store each round, so that an interruption loses one round."""
    results = kept.read()
    for name in PARTS:
        if name in names:
            with contextlib.closing(PARTS[name](bench)) as found:
                for part in found:
                    results = replace(results, **{name: part})
                    kept.write(results)
    return results


def _bench(folder: Path, options: argparse.Namespace) -> Bench:
    one, five, fifteen = os.getloadavg()
    return Bench(
        folder=folder,
        dram_bytes=32 << 20 if options.quick else options.dram << 20,
        rounds=1 if options.quick else options.rounds,
        seconds=options.seconds,
        budget_s=5.0 if options.quick else options.budget,
        quick=options.quick,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        load=(round(one, 2), round(five, 2), round(fifteen, 2)),
    )


def _lacking(*, quick: bool) -> str | None:
    """Return why this host cannot run it; the smoke run changes it only where tests may."""
    if quick and os.environ.get("ASSAY_TEST_SYSTEM") != "1":
        return "tests may not change this host (ASSAY_TEST_SYSTEM=1)"
    if os.geteuid() != 0:
        return "only root can create memory control groups and swap files"
    missing = [name for name in ("mkswap", "swapon", "g++") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not installed"
    able = probe(os.environ).userfaultfd
    if not (able.move and able.in_kernel):
        return "this kernel cannot move pages (`assay tier doctor` says why)"
    return None


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tier",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of each part (default: %(default)s)"
    )
    parser.add_argument(
        "--dram", type=int, default=256, help="MiB of memory (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="duration of each way (default: %(default)s)"
    )
    parser.add_argument(
        "--budget", type=_seconds, default="40m", help="budget of part efficiency (default: 40m)"
    )
    parser.add_argument(
        "--path", type=Path, help="folder on the disk to measure (default: that of temporary files)"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="part to measure; repeatable (default: all)"
    )
    parser.add_argument(
        "--write", action="store_true", help="write into docs/benchmarks instead of build"
    )
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="file of results to render; measure nothing",
    )
    one_of.add_argument("--quick", action="store_true", help="smoke test with one short round")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("--quick cannot be combined with --write")
    return options


def _seconds(words: str) -> float:
    try:
        return parse_duration_s(words)
    except InvalidInputError as error:
        raise argparse.ArgumentTypeError(error.cause) from error


if __name__ == "__main__":
    # A signal restores swap and groups, as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except AssayError as error:
        sys.exit(f"benchmarks.tier: {error}")
    except KeyboardInterrupt:
        sys.exit("benchmarks.tier: interrupted; complete rounds are stored")
