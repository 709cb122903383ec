"""Recording of a machine's files, scrubbed, with the links among them."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.machine.links import link_target, resolved
from assay.machine.root import Root
from assay.machine.snapshot.file_groups import file_groups
from assay.machine.snapshot.scrub import scrub_file, scrub_text
from assay.machine.tunables import LATENCY

_MAX_FILES = 200_000
_MAX_TOTAL_BYTES = 64 * 2**20
_MAX_FILE_BYTES = 4 * 2**20
_MAX_SECONDS = 60.0
_CONFIG_BYTES = 256
"""Recorded bytes of a PCI device's configuration: the serial number is in the rest."""
_CONTROL_BYTES = 2**16
"""Recorded bytes of a control file: the kernel allocates a buffer of the requested size, and
refuses 4 MiB (``proc_sys_call_handler``).
"""
_SELF_LINK = "/proc/self"
"""A link to the process that reads; its files are recorded under this name."""


@dataclass
class Recording:
    """Recorded data of a machine.

    Attributes:
        files: path -> content, scrubbed; the path has no link in it.
        links: path -> target.
        folders: existing directories without recorded files.
        configuration: subject -> path on the machine -> text, of files with configuration.
        cut: parts that were left out because of size or time.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    configuration: dict[str, dict[str, str]] = field(default_factory=dict)
    cut: tuple[str, ...] = ()


def record(root: Root, deadline_s: float = _MAX_SECONDS) -> Recording:
    """Record all files of the table, until the deadline.

    Args:
        root: the machine.
        deadline_s: seconds after which the rest is left out.
    """
    found = Recording()
    tracer = _Tracer(root, found.links)
    until = time.monotonic() + deadline_s
    size = 0
    for group in file_groups(root):
        for path in (path for pattern in group.patterns for path in matching(root, pattern)):
            if (
                time.monotonic() > until
                or size > _MAX_TOTAL_BYTES
                or len(found.files) + len(found.links) > _MAX_FILES
            ):
                found.cut = (f"{group.name} and the following groups",)
                return found
            place = tracer.trace(path.rstrip("/"))
            if place is None:
                continue
            if path.endswith("/"):
                if root.exists(path):
                    found.folders.add(scrub_text(place))
                continue
            if scrub_text(place) in found.files:  # through another path
                continue
            content = _content(root, path)
            if content is None:
                continue
            found.files[scrub_text(place)] = content
            size += len(content)
            if group.configuration:
                configuration = found.configuration.setdefault(group.name, {})
                configuration[scrub_text(path)] = content.decode("latin-1").strip()
    return found


def _content(root: Root, path: str) -> bytes | None:
    if path == LATENCY:  # a device: a machine document contains only its existence
        return b"" if root.exists(path) else None
    limit = _MAX_FILE_BYTES
    if path.endswith("/config") and path.startswith("/sys/"):
        limit = _CONFIG_BYTES
    elif path.startswith("/proc/sys/"):
        limit = _CONTROL_BYTES
    content = root.read_bytes(path, limit)
    return None if content is None else scrub_file(root, path, content)


def matching(root: Root, pattern: str) -> Iterator[str]:
    """Yield the paths of a pattern, in order; their existence is not checked."""
    folder = pattern.endswith("/")
    found = [""]
    for word in pattern.strip("/").split("/"):
        if "*" not in word:
            found = [f"{path}/{word}" for path in found]
            continue
        found = [
            f"{path}/{name}" for path in found for name in fnmatch.filter(root.listdir(path), word)
        ]
    yield from (f"{path}/" for path in found) if folder else found


class _Tracer:
    """Resolver of paths as in :class:`Root`, which records the links on the way."""

    def __init__(self, root: Root, links: dict[str, str]) -> None:
        self._base = "" if root.live else str(root.path.resolve())
        self._links = links
        self._targets: dict[str, str | None] = {}

    def trace(self, path: str) -> str | None:
        """Return the path without links; ``None`` for cyclic links."""
        return resolved(path, self._target)

    def _target(self, path: str) -> str | None:
        if path == _SELF_LINK:
            return None
        if path not in self._targets:
            target = self._targets[path] = link_target(self._base + path)
            if target is not None:
                self._links[scrub_text(path)] = scrub_text(target)
        return self._targets[path]
