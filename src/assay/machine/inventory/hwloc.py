"""Topology from hwloc's ``lstopo``.

Interface: ``lstopo --of xml`` of hwloc 2 (``hwloc2.dtd``; lstopo(1)), ``-i DIR --if fsroot`` for a
recorded tree. hwloc also finds groups and caches that no file lists, since it queries the
processor.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from assay.machine.boot import BOOT_ID
from assay.machine.inventory.document import MissingReading, Part
from assay.machine.root import Root

RECORDED = "/assay/hwloc.xml"
"""Path of hwloc's output in a snapshot, recorded on the host itself."""

PROGRAMS = ("lstopo-no-graphics", "lstopo")
_TIMEOUT_S = 60.0
_MAX_FILE_BYTES = 64 * 2**20
_MISSING = MissingReading(
    reading="topology by hwloc",
    reason="lstopo is not installed, so the topology contains only the parts that files list",
    remedy="Install hwloc-nox (Debian, Ubuntu) or hwloc.",
)
_KINDS = {
    "Machine": "machine",
    "Package": "package",
    "Die": "die",
    "Group": "group",
    "Core": "core",
    "PU": "cpu",
    "NUMANode": "node",
    "MemCache": "memcache",
}
_CACHE = re.compile(r"L([1-5])(i?)Cache")
_SHOWN_INFOS = frozenset(
    {
        *("Backend", "OSName", "OSRelease", "Architecture", "hwlocVersion", "Inclusive"),
        *("CPUVendor", "CPUFamilyNumber", "CPUModelNumber", "CPUModel", "CPUStepping"),
        *("CPURevision", "PlatformName", "PlatformModel", "MemoryMode", "ClusterMode"),
        *("PCIVendor", "PCIDevice", "PCISlot", "Size", "SectorSize", "Vendor", "Model"),
    }
)
"""Info attributes that a snapshot keeps: others contain host names, addresses and serial numbers.
"""


def read_hwloc(
    root: Root, online: str, env: Mapping[str, str], cache: Path | None = None
) -> tuple[str, Part] | MissingReading:
    """Return the topology of a machine, with the version of hwloc.

    Args:
        root: root of the machine.
        online: online CPUs, as a list: a cached result for other CPUs is invalid.
        env: environment in which the program is found and run.
        cache: directory to cache the result until the next boot; only for the running host.
    """
    content = hwloc_xml(root, online, env, cache)
    if isinstance(content, MissingReading):
        return content
    found = parse(content)
    if found is None:
        return MissingReading(
            reading="topology by hwloc", reason="the output of lstopo cannot be parsed"
        )
    return found


def hwloc_xml(
    root: Root, online: str, env: Mapping[str, str], cache: Path | None = None
) -> bytes | MissingReading:
    """Return the XML document of a machine: recorded, cached in this boot, or created now."""
    recorded = None if root.live else root.read_bytes(RECORDED, _MAX_FILE_BYTES)
    if recorded:
        return recorded
    path = env.get("PATH", os.defpath)
    program = next((found for name in PROGRAMS if (found := shutil.which(name, path=path))), None)
    if program is None:
        return _MISSING
    kept = _cache_file(root, program, online, cache)
    if kept is not None and (content := _read(kept)):
        return content
    made = _run_lstopo(root, program, env)
    if kept is not None and isinstance(made, bytes):
        _keep(kept, made)
    return made


def _run_lstopo(root: Root, program: str, env: Mapping[str, str]) -> bytes | MissingReading:
    argv = [program, "--of", "xml", "--disallowed"]
    if not root.live:
        argv += ["-i", str(root.path), "--if", "fsroot"]
    clean = {name: value for name, value in env.items() if not name.startswith("HWLOC_")}
    try:
        answer = subprocess.run(
            [*argv, "-"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            env={**clean, "LC_ALL": "C", "HWLOC_HIDE_ERRORS": "2"},
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return MissingReading(reading="topology by hwloc", reason=f"lstopo cannot be run: {error}")
    if answer.returncode != 0 or not answer.stdout.startswith(b"<?xml"):
        errors = answer.stderr.decode(errors="replace").strip().splitlines()
        why = errors[-1] if errors else f"status {answer.returncode}"
        return MissingReading(reading="topology by hwloc", reason=f"lstopo failed: {why}")
    return answer.stdout


def _cache_file(root: Root, program: str, online: str, cache: Path | None) -> Path | None:
    boot = root.read_text(BOOT_ID)
    if cache is None or not root.live or not boot:
        return None
    try:
        seen = Path(program).resolve().stat()
    except OSError:
        return None
    # The program file stands for its version: asking for the version takes as long as the whole
    # query.
    key = f"{boot}\n{program}\n{seen.st_size}\n{seen.st_mtime_ns}\n{online}"
    return cache / f"hwloc-{hashlib.sha256(key.encode()).hexdigest()[:16]}.xml"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _keep(path: Path, content: bytes) -> None:
    """Write the cache; errors are ignored, since the result can be created again."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.write_bytes(content)
        part.replace(path)
        for old in path.parent.glob("hwloc-*.xml"):
            if old != path:
                old.unlink(missing_ok=True)
    except OSError:
        part.unlink(missing_ok=True)


def parse(content: bytes) -> tuple[str, Part] | None:
    """Return version and topology of a document of hwloc 2; ``None`` for anything else."""
    top = _document(content)
    if top is None:
        return None
    machine = top.find("object")
    if machine is None or machine.get("type") != "Machine":
        return None
    version = next(
        (i.get("value", "") for i in machine.findall("info") if i.get("name") == "hwlocVersion"),
        "2",
    )
    return version, _part(machine, "machine")


def _document(content: bytes) -> ElementTree.Element | None:
    if b"<!ENTITY" in content:  # a recorded file may be malicious
        return None
    try:
        top = ElementTree.fromstring(content)
    except ElementTree.ParseError:
        return None
    two = top.tag == "topology" and top.get("version", "1").split(".")[0] >= "2"
    return top if two else None


def _part(element: ElementTree.Element, kind: str) -> Part:
    inner = [(child, _kind(child)) for child in element.findall("object")]
    parts = [_part(child, kind) for child, kind in inner if kind]
    size = element.get("cache_size") or element.get("local_memory") or ""
    number = element.get("os_index", "")
    return Part(
        kind=kind,
        id=int(number) if number.isdigit() and kind not in ("machine", "group") else None,
        name=_name(element, kind),
        cpus=_bitmap(element.get("cpuset", "")),
        size_bytes=int(size) if size.isdigit() and int(size) else None,
        memory=tuple(part for part in parts if part.kind in ("node", "memcache")),
        children=tuple(part for part in parts if part.kind not in ("node", "memcache")),
    )


def _kind(element: ElementTree.Element) -> str | None:
    """Return the kind of a part; ``None`` for bridges, devices and other objects."""
    name = element.get("type", "")
    cache = _CACHE.fullmatch(name)
    return f"l{cache[1]}{cache[2]}" if cache else _KINDS.get(name)


def _name(element: ElementTree.Element, kind: str) -> str | None:
    if kind == "package":
        infos = {info.get("name"): info.get("value") for info in element.findall("info")}
        return infos.get("CPUModel") or None
    return element.get("subtype") or None


def _bitmap(text: str) -> tuple[int, ...]:
    """Return the CPUs of ``0x00000003,,0xff``: words of 32 bits, the highest first."""
    mask = 0
    for word in text.split(","):
        try:
            mask = mask << 32 | int(word or "0", 16)
        except ValueError:
            return ()
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def without_names(content: bytes) -> bytes | None:
    """Return the document without info that could name a host; ``None`` if it is not hwloc 2."""
    top = _document(content)
    if top is None:
        return None
    for parent in list(top.iter()):
        for info in parent.findall("info"):
            if info.get("name") not in _SHOWN_INFOS:
                parent.remove(info)
        for child in parent.findall("object"):
            if child.get("type") in ("OSDev", "Misc"):
                parent.remove(child)
    for unwanted in top.findall("userdata"):
        top.remove(unwanted)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top)
