"""Writer of snapshots as archives.

Besides the files of the machine an archive contains ``/assay/facts.json``
(:mod:`assay.machine.snapshot_facts`) and ``/assay/hwloc.xml``, the output of hwloc on the machine
itself.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from assay import __version__
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.inventory.cgroups import writable_groups
from assay.machine.inventory.hwloc import RECORDED, hwloc_xml, without_names
from assay.machine.inventory.versions import read_libraries
from assay.machine.processor import GATHERED
from assay.machine.root import Root
from assay.machine.snapshot.recording import Recording, record
from assay.machine.snapshot.scrub import scrub_text
from assay.machine.snapshot_facts import FACTS_PATH, Facts, read_facts
from assay.records.codec import encode

TOP = "machine"
"""Top directory of an archive."""


def record_snapshot(
    root: Root, machine: Machine, env: Mapping[str, str], cache: Path | None = None
) -> Recording:
    """Return the recording of a machine.

    Args:
        root: root of the machine.
        machine: its Machine document.
        env: environment of ``lstopo``, with the user's home directory.
        cache: directory with hwloc's result of this boot.
    """
    found = record(root)
    found.files[FACTS_PATH] = encode(_facts(root, machine, env, found.cut)) + b"\n"
    if GATHERED not in found.files:
        text = f"OSName: Linux\nOSRelease: {machine.kernel}\nArchitecture: {machine.arch}\n"
        found.files[GATHERED] = text.encode()
    xml = hwloc_xml(root, format_list(cpu.id for cpu in machine.cpus), env, cache)
    clean = without_names(xml) if isinstance(xml, bytes) else None
    if clean is not None:
        found.files[RECORDED] = clean
    return found


def _facts(root: Root, machine: Machine, env: Mapping[str, str], cut: tuple[str, ...]) -> Facts:
    earlier = read_facts(root)
    if earlier is not None:
        return earlier
    home = env.get("HOME", "").rstrip("/")

    def shown(path: str) -> str:
        return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path

    return Facts(
        affinity=machine.allowed_cpus,
        libraries={name: shown(path) for name, path in machine.libraries.items()},
        library_versions={
            library.name: (shown(library.path), library.version)
            for library in read_libraries(root, machine.libraries, machine.arch)
        },
        writable=(
            {scrub_text(folder): may for folder, may in writable_groups(root).items()}
            if root.live
            else {}
        ),
        assay=__version__,
        cut=cut,
    )


def write_archive(recording: Recording, out: BinaryIO) -> None:
    """Write the archive; equal recordings give equal bytes, without times and owners.

    Links with absolute targets, relative to the machine's root, are rewritten.
    """
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        folders = {path for path in recording.folders if path not in recording.links}
        for path in sorted(folders | recording.files.keys() | recording.links.keys()):
            archive.addfile(*_member(recording, path))


def _member(recording: Recording, path: str) -> tuple[tarfile.TarInfo, BinaryIO | None]:
    member = tarfile.TarInfo(f"{TOP}{path}")
    member.mode = 0o644
    content = recording.files.get(path)
    if content is not None:
        member.size = len(content)
        return member, io.BytesIO(content)
    target = recording.links.get(path)
    if target is None:
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    else:
        member.type, member.mode = tarfile.SYMTYPE, 0o777
        above = str(PurePosixPath(path).parent)
        absolute = target.startswith("/")
        member.linkname = os.path.relpath(target, above) if absolute else target
    return member, None
