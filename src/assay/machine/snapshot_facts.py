"""Recorded: what a snapshot keeps that no file of the host says."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.machine.root import Root
from assay.records.codec import Record, decode

FACTS_PATH = "/assay/facts.json"
"""Where a snapshot keeps it, below its root."""

_LARGEST_BYTES = 2**20


class Facts(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """What was asked of the kernel or of files too large to keep.

    Attributes:
        affinity: CPUs that the recording process could use.
        libraries: name -> path, as a Machine has them.
        library_versions: name -> path and version, of these and of the C library.
        writable: folder of a control group -> whether the user could make groups in it.
        assay: version that recorded it.
        cut: what was left out because the snapshot grew too large or took too long.
    """

    affinity: tuple[int, ...] = ()
    libraries: dict[str, str] = {}
    library_versions: dict[str, tuple[str, str | None]] = {}
    writable: dict[str, bool] = {}
    assay: str = ""
    cut: tuple[str, ...] = ()


def read_facts(root: Root) -> Facts | None:
    """What the snapshot below ``root`` keeps; ``None`` where it is none, or a newer one."""
    content = None if root.live else root.read_bytes(FACTS_PATH, _LARGEST_BYTES)
    try:
        return decode(content, Facts) if content else None
    except InvalidInputError:
        return None
