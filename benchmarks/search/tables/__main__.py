"""Command line that records tables again: ``python -m benchmarks.search.tables NAME...``."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import derived, programs
from .recording import grid, record, write

HERE = Path(__file__).parent
RECORDED = {
    "xz": (programs.XZ, programs.xz),
    "sqlite": (programs.SQLITE, programs.sqlite),
    "gcc_flags": (programs.GCC, programs.gcc),
    "matmul_tiles": (programs.TILES, programs.tiles),
}
SPARSE = "sparse_settings"
CONVOLUTION = "convolution_2080ti"


def main() -> None:
    """Record the named tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search.tables", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*RECORDED, SPARSE, CONVOLUTION])
    parser.add_argument("--package", type=Path, help="source package of autotuning_methodology")
    options = parser.parse_args()
    for name in options.names:
        path = HERE / f"{name}.csv.gz"
        if name in RECORDED:
            parameters, program = RECORDED[name]
            rows = grid(parameters)
            with program() as take:
                write(path, list(parameters), rows, record(rows, take))
        elif name == SPARSE:
            write(path, list(derived.SPARSE), *derived.sparse())
        elif options.package is None:
            parser.error(f"{name} takes --package")
        else:
            derived.convolution(options.package, path)
        print(path)


if __name__ == "__main__":
    main()
