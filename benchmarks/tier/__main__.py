"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import datetime
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from assay import __version__
from assay.machine.reader import read_machine
from assay.tier.probe import probe

from . import __doc__ as description
from . import disks
from .cells import ADVISED, FITS, FORWARD, ON_DISKS, WAYS
from .measuring import Cell, Pass, measure
from .page import text
from .ways import DISK_RATES, ONE_DISK, SWAP, TIER, TWO_DISKS, Place, Way

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "tier.md"
FOUND = dict[tuple[Cell, str], list[Pass]]
WAYS_OF_CELLS = Mapping[Cell, tuple[Way, ...]]


def main() -> None:
    """Parse, measure, print."""
    options = _parsed()
    lacking = _lacking(quick=options.quick)
    if lacking:
        print(f"benchmarks.tier: nothing is measured: {lacking}")
        return
    ways: WAYS_OF_CELLS = WAYS
    on_disks: WAYS_OF_CELLS = ON_DISKS
    if options.quick:
        options.rounds, options.dram = 1, 32
        ways = {FORWARD: (TIER, SWAP), FITS: (TIER,)}
        on_disks = {FORWARD: (ONE_DISK, TWO_DISKS)}
    no_disks = disks.lacking()
    with tempfile.TemporaryDirectory(dir=options.path) as folder:
        place = _place(Path(folder), options.dram << 20, ways)
        found, device = _measured(ways, place, options)
        several: FOUND | str = f"Not measured: {no_disks}."
        if no_disks is None:
            several = _measured_on_disks(on_disks, place, options)
    page = text(found, several, device, _heading(options.rounds, place.dram_bytes))
    print(page)
    if options.write:
        PAGE.write_text(page)


def _measured(
    ways: WAYS_OF_CELLS, place: Place, options: argparse.Namespace
) -> tuple[FOUND, list[float]]:
    found: FOUND = {(cell, way.name): [] for cell in ways for way in ways[cell]}
    if FORWARD in ways and SWAP in ways[FORWARD]:
        found[FORWARD, ADVISED] = []
    device: list[float] = []
    rng = random.Random(0)
    for number in range(options.rounds):
        device.append(_device(place.folder))
        work = [(cell, way, False) for cell in ways for way in ways[cell]]
        work += [(FORWARD, SWAP, True)] * ((FORWARD, ADVISED) in found)
        rng.shuffle(work)
        for cell, way, advised in work:
            one = measure(cell, way, place, options.seconds, advised=advised)
            found[cell, ADVISED if advised else way.name].append(one)
            _tell(number, cell, ADVISED if advised else way.name, one)
    return found, device


def _measured_on_disks(ways: WAYS_OF_CELLS, place: Place, options: argparse.Namespace) -> FOUND:
    found: FOUND = {(cell, way.name): [] for cell in ways for way in ways[cell]}
    rng = random.Random(0)
    # A disk that is named twice has more than its share.
    room = 2 * place.data_bytes + (64 << 20)
    with disks.throttled(place.folder, room, DISK_RATES) as several:
        place = replace(place, disks=several)
        for number in range(options.rounds):
            work = [(cell, way) for cell in ways for way in ways[cell]]
            rng.shuffle(work)
            for cell, way in work:
                one = measure(cell, way, place, options.seconds)
                found[cell, way.name].append(one)
                _tell(number, cell, way.name, one)
    return found


def _tell(number: int, cell: Cell, way: str, one: Pass) -> None:
    print(
        f"round {number + 1}: {cell.name}, {way}: {one.rate / 1e9:.3f} GB/s",
        file=sys.stderr,
        flush=True,
    )


def _place(folder: Path, dram_bytes: int, ways: WAYS_OF_CELLS) -> Place:
    filemap = folder / "filemap.so"
    source = Path(__file__).with_name("filemap.cpp")
    shared = ("-O2", "-std=c++20", "-shared", "-fPIC")
    subprocess.run(["g++", *shared, "-o", filemap, source], check=True)
    most = max(cell.of_dram for cell in ways)
    return Place(folder, dram_bytes, int(most * dram_bytes), filemap)


def _device(folder: Path) -> float:
    """Bytes per second that it gives to large reads, as ``assay tier doctor`` measures them."""
    (path,) = probe(os.environ, str(folder)).paths
    if path.read_bytes_per_s is None:
        raise SystemExit(f"{folder}: {path.problem}")
    return path.read_bytes_per_s


def _lacking(*, quick: bool) -> str | None:
    """Why this host cannot run it; the smoke run changes it only where tests may."""
    if quick and os.environ.get("ASSAY_TEST_SYSTEM") != "1":
        return "tests may not change this host (ASSAY_TEST_SYSTEM=1)"
    if os.geteuid() != 0:
        return "only root makes memory groups and swap files"
    missing = [name for name in ("mkswap", "swapon", "g++") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not installed"
    able = probe(os.environ).userfaultfd
    if not (able.move and able.in_kernel):
        return "this kernel cannot move pages (`assay tier doctor` says why)"
    return None


def _heading(rounds: int, dram_bytes: int) -> str:
    machine = read_machine()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        f"{description}\n"
        f"`make bench-tier BENCH=--write` writes this page. Figures of {today}, assay "
        f"{__version__}, {rounds} rounds with {dram_bytes >> 20} MiB of memory, "
        f"{len(machine.cpus)} CPUs, {machine.model or 'an unnamed processor'}, Linux "
        f"{machine.kernel.partition('-')[0]}."
    )


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tier",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--dram", type=int, default=256, help="MiB of memory (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each way (%(default)s)")
    parser.add_argument("--path", type=Path, help="on the disk to measure (temporary files')")
    parser.add_argument("--quick", action="store_true", help="one short round: does it still run?")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
