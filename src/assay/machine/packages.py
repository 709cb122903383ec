"""Python packages: their versions, and the native libraries that they bundle or link.

Formats: the core metadata and ``RECORD`` of installed distributions (packaging.python.org), and the
older ``.egg-info``; ``NAME.libs`` contains the libraries that auditwheel bundles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from assay.machine.programs.elf import Elf, read_elf
from assay.machine.programs.loader import link
from assay.machine.programs.runtimes import runtimes_of_file, runtimes_of_files
from assay.machine.root import Root

_INFO = re.compile(r"([^-]+)(?:-[^-]+)?(?:-py[\d.]+)?\.(dist-info|egg-info)")
_REQUIRES = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9][\w.-]*)(.*)$", re.M | re.ASCII)
_BASIC = re.compile(r"(?:lib(?:c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|python[\d.]*)|ld-linux.*)\.so")
_LEADING_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.M | re.ASCII)
_MAX_LINKED_FILES = 24
_MAX_MODULES = 64
_MAX_SOURCE_BYTES = 2**18
_MAX_ENTRIES = 2000
_MAX_DEPTH = 4


class Distribution(msgspec.Struct, frozen=True):
    """An installed distribution.

    Attributes:
        name: name in its files (``scikit_learn``).
        folder: directory of packages that contains it.
        info: directory or file of its metadata.
    """

    name: str
    folder: str
    info: str

    @property
    def key(self) -> str:
        """Normalised name, for comparison."""
        return normalised_name(self.name)

    @property
    def info_name(self) -> str:
        """File name of the metadata; nearly always with the version: ``numpy-2.1.0.dist-info``."""
        return self.info.rpartition("/")[2]


class Contents(msgspec.Struct, frozen=True):
    """Contents of packages, and of the distributions that they require.

    Attributes:
        reasons: runtime -> evidence.
        files: bundled or linked libraries, and a substitute for packages of unknown version.
        versions: versions of the distributions, as file names of their metadata.
    """

    reasons: dict[str, str]
    files: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()


class _NativeRuntimes(msgspec.Struct, frozen=True):
    """Runtimes with evidence, and the files of native libraries."""

    runtimes: dict[str, str]
    files: frozenset[str] = frozenset()


def normalised_name(name: str) -> str:
    """Return a distribution's name in the normalised form of packaging."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_contents(
    root: Root, packages: Iterable[str], folders: tuple[str, ...], env: Mapping[str, str]
) -> Contents:
    """Return the contents of packages and of the distributions that they require."""
    installed = _installed(root, folders)
    owners = {package: _owner(root, package, installed) for package in sorted(packages)}
    reasons: dict[str, str] = {}
    files: set[str] = set()
    known = {owner.key: owner for owner in owners.values() if owner}
    for package, owner in owners.items():
        own = _of_distribution(root, owner, env) if owner else _of_tree(root, package, folders, env)
        files |= own.files
        for runtime, how in own.runtimes.items():
            reasons.setdefault(runtime, f"{package} {how}")
    for package, owner in owners.items():
        for member in _required(root, owner, installed) if owner else ():
            needed = _of_distribution(root, member, env)
            known[member.key] = member
            files |= needed.files
            for runtime, how in needed.runtimes.items():
                reasons.setdefault(runtime, f"{package} needs {member.name}, which {how}")
    unversioned = {d.info for d in known.values() if not re.search(r"-\d", d.info_name)}
    versions = frozenset(d.info_name for d in known.values())
    return Contents(reasons, frozenset(files | unversioned), versions)


def _installed(root: Root, folders: tuple[str, ...]) -> dict[str, Distribution]:
    """Return the distributions by normalised name; earlier directories hide later ones."""
    found: dict[str, Distribution] = {}
    for folder in folders:
        for entry in root.listdir(folder):
            match = _INFO.fullmatch(entry)
            if match:
                known = Distribution(match[1], folder, f"{folder}/{entry}")
                found.setdefault(known.key, known)
    return found


def _owner(root: Root, package: str, installed: Mapping[str, Distribution]) -> Distribution | None:
    """Return the distribution of an importable name: by name, else by its file lists."""
    if normalised_name(package) in installed:
        return installed[normalised_name(package)]
    for known in installed.values():
        if package in (root.read_text(f"{known.info}/top_level.txt") or "").split():
            return known
    starts = (f"{package}/", f"{package}.")
    for known in installed.values():
        if any(path.startswith(starts) for path in _record(root, known)):
            return known
    return None


def _required(
    root: Root, first: Distribution, installed: Mapping[str, Distribution]
) -> Iterator[Distribution]:
    """Yield the installed requirements of a distribution, without extras."""
    seen = {first.key}
    waiting = [first]
    while waiting:
        for name in _requirements(root, waiting.pop(0)):
            if name in installed and name not in seen:
                seen.add(name)
                waiting.append(installed[name])
                yield installed[name]


def _requirements(root: Root, known: Distribution) -> Iterator[str]:
    text = root.read_text(f"{known.info}/METADATA") or root.read_text(f"{known.info}/PKG-INFO")
    for name, rest in _REQUIRES.findall((text or "").partition("\n\n")[0]):
        if not re.search(r";.*\bextra\b", rest):
            yield normalised_name(name)
    if not known.info.endswith(".egg-info"):
        return
    old, _, _ = (root.read_text(f"{known.info}/requires.txt") or "").partition("[")
    names = [match[0] for match in map(_LEADING_NAME.match, old.split("\n")) if match]
    # Some distributions omit the list if their own packages state it: then imports count.
    for name in names or _imported(root, known):
        yield normalised_name(name)


def _imported(root: Root, known: Distribution) -> Iterator[str]:
    """Yield the names that the modules at the top of a package import."""
    for top in _tops(root, known):
        modules = [name for name in root.listdir(f"{known.folder}/{top}") if name.endswith(".py")]
        for module in modules[:_MAX_MODULES]:
            source = root.read_text(f"{known.folder}/{top}/{module}", _MAX_SOURCE_BYTES) or ""
            yield from _IMPORT.findall(source)


def _tops(root: Root, known: Distribution) -> list[str]:
    return (root.read_text(f"{known.info}/top_level.txt") or known.name).split()


def _record(root: Root, known: Distribution) -> list[str]:
    text = root.read_text(f"{known.info}/RECORD") or ""
    return [line.partition(",")[0].strip('"') for line in text.splitlines()]


def _of_distribution(root: Root, known: Distribution, env: Mapping[str, str]) -> _NativeRuntimes:
    objects = [path for path in _record(root, known) if _is_object(path)]
    if not objects:
        objects = [path for top in _tops(root, known) for path in _tree(root, known.folder, top)]
    return _of_objects(root, [f"{known.folder}/{path}" for path in objects], env)


def _of_tree(
    root: Root, package: str, folders: tuple[str, ...], env: Mapping[str, str]
) -> _NativeRuntimes:
    """Return the libraries of a package without metadata, from its directory."""
    paths = [f"{f}/{path}" for f in folders for path in _tree(root, f, package)]
    native = _of_objects(root, paths, env)
    places = [f"{f}/{package}{end}" for f in folders for end in ("/__init__.py", ".py")]
    own = next((path for path in places if root.exists(path)), None)
    return _NativeRuntimes(native.runtimes, native.files | ({own} if own else frozenset()))


def _of_objects(root: Root, paths: list[str], env: Mapping[str, str]) -> _NativeRuntimes:
    bundled = runtimes_of_files(paths)
    if bundled:
        evidence = {name: f"bundles {path.rpartition('/')[2]}" for name, path in bundled.items()}
        return _NativeRuntimes(evidence, frozenset(bundled.values()))
    linked = _linked(root, [path for path in paths if not runtimes_of_file(path)], env)
    evidence = {name: f"links {path}" for name, path in runtimes_of_files(linked).items()}
    return _NativeRuntimes(evidence, frozenset(linked))


def _linked(root: Root, paths: list[str], env: Mapping[str, str]) -> list[str]:
    """Return the libraries that extension modules link beyond those of the language."""
    found: dict[str, None] = {}
    visited: set[str] = set()
    for path in paths:
        elf = _user_elf(root, path)
        if elf is None or set(elf.needed) <= visited or len(visited) > _MAX_LINKED_FILES:
            continue
        visited.update(elf.needed)
        found.update(dict.fromkeys(link(root, path, elf, env).found.values()))
    return list(found)


def _user_elf(root: Root, path: str) -> Elf | None:
    place = root.on_host(path)
    elf = read_elf(place) if place is not None else None
    if elf is None or all(_BASIC.match(name) for name in elf.needed):
        return None
    return elf


def _tree(root: Root, folder: str, top: str) -> Iterator[str]:
    """Yield the shared objects in a package's directory, down to a practical depth."""
    waiting = [(top, 0)]
    seen = 0
    while waiting and seen < _MAX_ENTRIES:
        path, depth = waiting.pop(0)
        for entry in root.listdir(f"{folder}/{path}"):
            seen += 1
            if _is_object(entry):
                yield f"{path}/{entry}"
            elif depth < _MAX_DEPTH and "." not in entry and entry != "__pycache__":
                waiting.append((f"{path}/{entry}", depth + 1))


def _is_object(path: str) -> bool:
    return re.search(r"\.so(?:\.[\d.]+)?$", path) is not None
