"""Programs with their parameters, and the CPU seconds of a launch."""

from __future__ import annotations

import itertools
import lzma
import random
import resource
import sqlite3
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .recording import Parameters, Row, Take

BYTES_PER_S = 4e6
"""Bandwidth of the link over which a compressed file is sent."""
KERNELS = Path(__file__).parent / "kernels.c"
TILED = Path(__file__).parent / "tiled.c"

XZ: Parameters = {
    "mode": ("fast", "normal"),
    "match_finder": ("hc3", "hc4", "bt2", "bt3", "bt4"),
    "nice_len": (8, 16, 32, 64, 128, 273),
    "depth": (0, 4, 16, 64),
    "dict_kib": (16, 64, 256),
    "lc": (0, 3),
}
FINDERS = {
    "hc3": lzma.MF_HC3,
    "hc4": lzma.MF_HC4,
    "bt2": lzma.MF_BT2,
    "bt3": lzma.MF_BT3,
    "bt4": lzma.MF_BT4,
}
MODES = {"fast": lzma.MODE_FAST, "normal": lzma.MODE_NORMAL}


@contextmanager
def xz() -> Iterator[Take]:
    """Compress 96 KiB of Python sources and send them over a line of 4 MB/s."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    data = b"".join(path.read_bytes() for path in sorted(folder.glob("a*.py")))[: 96 * 1024]

    def take(row: Row) -> float:
        mode, finder, nice, depth, kib, lc = row
        chosen = {
            "id": lzma.FILTER_LZMA2,
            "mode": MODES[str(mode)],
            "mf": FINDERS[str(finder)],
            "nice_len": int(nice),
            "depth": int(depth),
            "dict_size": 1024 * int(kib),
            "lc": int(lc),
        }
        began = time.process_time()
        sent = lzma.compress(data, lzma.FORMAT_RAW, filters=[chosen])
        return time.process_time() - began + len(sent) / BYTES_PER_S

    yield take


SQLITE: Parameters = {
    "page_size": (512, 1024, 4096, 16384, 65536),
    "cache_kib": (32, 512, 8192),
    "journal_mode": ("delete", "truncate", "memory", "wal", "off"),
    "synchronous": ("off", "full"),
    "locking_mode": ("normal", "exclusive"),
    "rows_per_commit": (5, 25, 125),
}


@contextmanager
def sqlite() -> Iterator[Take]:
    """Insert 500 rows with an index into a database on /dev/shm, and read them by key."""
    rng = random.Random(0)
    rows = [(rng.randrange(10**6), rng.randbytes(200).hex()) for _ in range(500)]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        numbers = itertools.count()

        def take(row: Row) -> float:
            page, cache, journal, synchronous, locking, size = row
            path = Path(folder) / f"{next(numbers)}.db"
            began = time.process_time()
            with sqlite3.connect(path, isolation_level=None) as base:
                for pragma in (
                    f"page_size={page}",
                    f"locking_mode={locking}",
                    f"journal_mode={journal}",
                    f"synchronous={synchronous}",
                    f"cache_size=-{cache}",
                ):
                    base.execute(f"PRAGMA {pragma}")
                base.execute("CREATE TABLE t (k INTEGER, v TEXT)")
                base.execute("CREATE INDEX i ON t (k)")
                for batch in _batched(rows, int(size)):
                    base.execute("BEGIN")
                    base.executemany("INSERT INTO t VALUES (?, ?)", batch)
                    base.execute("COMMIT")
                for key, _ in rows:
                    base.execute("SELECT v FROM t WHERE k = ?", (key,)).fetchall()
            base.close()
            took_s = time.process_time() - began
            for left in Path(folder).iterdir():
                left.unlink()
            return took_s

        yield take


def _batched(rows: list[tuple[int, str]], size: int) -> list[list[tuple[int, str]]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


FLAGS = (
    "-ffast-math",
    "-funroll-loops",
    "-fno-tree-vectorize",
    "-fno-inline",
    "-fomit-frame-pointer",
    "-fprefetch-loop-arrays",
)
GCC: Parameters = {
    "level": ("-O1", "-O2", "-O3"),
    "march": ("x86-64", "x86-64-v3"),
    **dict.fromkeys(FLAGS, (0, 1)),
}


@contextmanager
def gcc() -> Iterator[Take]:
    """Run kernels that gcc built with some flags."""
    with tempfile.TemporaryDirectory() as folder:

        def take(row: Row) -> float:
            level, march, *on = row
            path = Path(folder) / "-".join(map(str, row))
            if not path.exists():
                flags = [flag for flag, is_on in zip(FLAGS, on, strict=True) if is_on]
                words = ["gcc", str(level), f"-march={march}", *flags, str(KERNELS)]
                subprocess.run([*words, "-o", str(path), "-lm"], check=True)
            return _child_s([str(path)])

        yield take


TILES: Parameters = {
    "order": ("ijk", "ikj", "jik", "jki", "kij", "kji"),
    "tile_i": (4, 16, 48, 192),
    "tile_j": (4, 16, 48, 192),
    "tile_k": (4, 16, 48, 192),
    "packed": (0, 1),
    "unroll": (1, 4),
}


@contextmanager
def tiles() -> Iterator[Take]:
    """Multiply matrices of 192 x 192 block by block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiled"
        subprocess.run(["gcc", "-O2", str(TILED), "-o", str(path)], check=True)
        yield lambda row: _child_s([str(path), *map(str, row)])


def _child_s(words: list[str]) -> float:
    """Return the CPU seconds of a child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
