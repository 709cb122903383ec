"""Trees: the files of a guest that assay reads, copied to this host below a `Root`.

The table of snapshots (`assay.machine.snapshot.table`) lists these files, so a recorded guest is as
complete as a recorded machine.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from assay.machine.root import Root
from assay.machine.snapshot.file_groups import file_groups
from assay.machine.tunables import IRQS, WORKQUEUES

from .alive import Alive

_GROUP = "/sys/fs/cgroup"
MORE = (
    # Control groups are read where the process that records is; guests have them elsewhere too.
    *(f"{_GROUP}{below}/c*.*" for below in ("", "/*", "/*/*")),
    # A snapshot contains no other processes.
    "/proc/[0-9]*/comm",
)
PATTERNS = "/vm/patterns"
_CPU = "/sys/devices/system/cpu"
WHAT_CHECKS_READ = (
    "/proc/cmdline",
    "/proc/self/mountinfo",
    "/proc/self/cgroup",
    *(f"{_CPU}/{name}" for name in ("online", "possible", "isolated", "nohz_full")),
    f"{_GROUP}/cpuset.cpus.isolated",
    f"{_GROUP}/*/cpuset.cpus.*",
    f"{IRQS}/default_smp_affinity",
    f"{IRQS}/*/*_list",
    "/sys/kernel/irq/*/actions",
    f"{WORKQUEUES}/cpumask",
    f"{WORKQUEUES}/*/cpumask",
)
"""Files that tests of isolated CPUs read, and settings change."""


def tree_files(tree: Path) -> dict[str, Path | bytes]:
    """Return the files that a guest needs to gather its tree; `tree` is the program."""
    named = (pattern for group in file_groups(Root(Path("/nowhere"))) for pattern in group.patterns)
    text = "\n".join(dict.fromkeys((*named, *MORE)))
    return {"/bin/tree": tree, PATTERNS: f"{text}\n".encode()}


def gather(name: str = "tree") -> str:
    """Return the command that writes the tree to /out."""
    return f"tree {PATTERNS} /out/{name}"


def plant(gathered: bytes, folder: Path) -> Root:
    """Write the files that the program `tree` gathered."""
    at = 0
    while at < len(gathered):
        path, size, at = _header(gathered, at)
        place = folder / path.lstrip("/")
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gathered[at : at + size])
        at += size
    return Root(folder)


def _header(gathered: bytes, at: int) -> tuple[str, int, int]:
    name_end = gathered.index(b"\n", at)
    size_end = gathered.index(b"\n", name_end + 1)
    return gathered[at:name_end].decode(), int(gathered[name_end + 1 : size_end]), size_end + 1


def look(guest: Alive, patterns: Iterable[str], folder: Path) -> Root:
    """Write the present files of a guest; all of them would take seconds."""
    text = shlex.quote("\n".join(patterns))
    guest.output(f"echo {text} > /tmp/patterns; tree /tmp/patterns /tmp/tree")
    gathered = guest.host.bytes_of("/tmp/tree")
    assert gathered is not None
    return plant(gathered, folder)
