"""Data in a snapshot that no file of the host contains."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.machine.root import Root
from assay.records.codec import Record, decode

FACTS_PATH = "/assay/facts.json"
"""Path of the data, below the root of a snapshot."""

_MAX_FILE_BYTES = 2**20


class Facts(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """Data from system calls, or from files too large to keep.

    Attributes:
        affinity: CPUs of the recording process.
        libraries: name -> path, as in a Machine.
        library_versions: name -> path and version, of these and of the C library.
        writable: directory of a control group -> whether the user could create groups in it.
        assay: version that recorded it.
        cut: parts that were left out because the snapshot was too large or took too long.
    """

    affinity: tuple[int, ...] = ()
    libraries: dict[str, str] = {}
    library_versions: dict[str, tuple[str, str | None]] = {}
    writable: dict[str, bool] = {}
    assay: str = ""
    cut: tuple[str, ...] = ()


def read_facts(root: Root) -> Facts | None:
    """Return the data of the snapshot below ``root``; ``None`` if missing or unsupported."""
    content = None if root.live else root.read_bytes(FACTS_PATH, _MAX_FILE_BYTES)
    try:
        return decode(content, Facts) if content else None
    except InvalidInputError:
        return None
