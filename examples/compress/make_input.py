#!/usr/bin/env python3
"""Packs the standard library of this Python into one tar file: real text and machine code.

The same files give the same bytes: the order, times, owners and modes do not depend on who
packs them. A file that is already there is kept.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import sysconfig
import tarfile
from pathlib import Path

SUFFIXES = {".py", ".so"}
FOREIGN = {"site-packages", "dist-packages"}  # not of the standard library, not on every machine


def sources(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and not FOREIGN.intersection(path.parts)
    )


def pack(root: Path, target: Path, most: int) -> int:
    """Writes up to `most` bytes of the files below `root`; returns how many it took."""
    size = 0
    # Written beside its place and then moved, so that no half of a file is ever taken for all.
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as tar:
            for path in sources(root):
                data = path.read_bytes()
                if size + len(data) > most:
                    continue
                size += len(data)
                entry = tarfile.TarInfo(str(path.relative_to(root)))
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return size


def main() -> int:
    parser = argparse.ArgumentParser(prog="make_input", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("target", type=Path, help="the tar file to make")
    parser.add_argument("--megabytes", type=float, default=24, help="at most (%(default)s)")
    parser.add_argument("--root", type=Path, default=Path(sysconfig.get_path("stdlib")))
    args = parser.parse_args()
    if args.target.exists():
        return 0
    try:
        args.target.parent.mkdir(parents=True, exist_ok=True)
        size = pack(args.root, args.target, int(args.megabytes * 1e6))
    except OSError as error:
        print(f"make_input: {error}", file=sys.stderr)
        return 2
    if size == 0:
        args.target.unlink()
        print(f"make_input: {args.root}: no Python files", file=sys.stderr)
        return 2
    print(f"input_bytes={args.target.stat().st_size}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
