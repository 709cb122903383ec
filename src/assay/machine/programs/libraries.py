"""Installed allocators and OpenMP runtimes that can be preloaded into a program.

Names are those of the settings that use them. For each library, the variant is used that replaces
malloc when preloaded:

- ``tcmalloc``: ``libtcmalloc_minimal``, the same allocator without the heap profiler and its stack
  unwinder, which increase start-up time; ``libtcmalloc`` if only that is installed.
- ``tbbmalloc``: ``libtbbmalloc_proxy``; ``libtbbmalloc`` alone replaces nothing.
- ``assay-tier``: assay's own pager (docs/reference/tier.md), beside its launcher.
- ``mimalloc``: not ``libmimalloc-secure`` or ``-debug``, which are slower by design.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.machine.programs.elf import read_ident
from assay.machine.programs.loader import default_folders, read_cache
from assay.machine.root import Root
from assay.native_programs import native_folder

_STEMS = {
    "jemalloc": ("libjemalloc",),
    "tcmalloc": ("libtcmalloc_minimal", "libtcmalloc"),
    "tbbmalloc": ("libtbbmalloc_proxy",),
    "mimalloc": ("libmimalloc",),
    "gomp": ("libgomp",),
    "iomp": ("libiomp5",),
    "llvm-omp": ("libomp", "libomp5"),
    "assay-tier": ("libassay-tier",),
}
"""Names -> file names without ``.so`` and version, the preferred one first."""

_FILE = re.compile(r"(lib[\w+-]+?)\.so((?:\.\d+)*)", re.ASCII)

_VENDOR = "/opt/intel/oneapi"


def find_libraries(root: Root, env: Mapping[str, str], arch: str) -> dict[str, str]:
    """Return the real paths of the installed libraries for this architecture, by name.

    Directories activated by the user (``LD_LIBRARY_PATH``, a Conda or virtual environment,
    ``~/.local/lib``) take precedence over those of the system's loader, and these over all others.
    """
    found: dict[str, str] = {}
    wanted = {stem for stems in _STEMS.values() for stem in stems}
    for files in _candidate_paths(root, env, arch):
        by_stem = _newest_first(files, wanted)
        for name, stems in _STEMS.items():
            paths = (path for stem in stems for path in by_stem.get(stem, ()))
            fit = (path for path in paths if name not in found and _fits(root, path, arch))
            path = next(fit, None)
            real = root.real(path) if path else None
            if real:
                found[name] = real
        if len(found) == len(_STEMS):
            break
    return dict(sorted(found.items()))


def _candidate_paths(root: Root, env: Mapping[str, str], arch: str) -> Iterator[list[str]]:
    """Yield the paths of files, one list per directory, in order of preference."""
    own = str(native_folder(env))
    yield [f"{own}/{name}" for name in root.listdir(own)]
    for folder in _user_folders(env):
        yield [f"{folder}/{name}" for name in root.listdir(folder)]
    yield [path for paths in read_cache(root).values() for path in paths]
    for folder in (*default_folders(arch), *_vendor_folders(root, env)):
        yield [f"{folder}/{name}" for name in root.listdir(folder)]


def _user_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    own = [f"{env[name]}/lib" for name in ("CONDA_PREFIX", "VIRTUAL_ENV") if env.get(name)]
    home = env.get("HOME")
    listed = [folder for folder in env.get("LD_LIBRARY_PATH", "").split(":") if folder]
    return tuple(
        folder.rstrip("/")
        for folder in (*listed, *own, *([f"{home}/.local/lib"] if home else []))
        if folder.startswith("/")
    )


def _vendor_folders(root: Root, env: Mapping[str, str]) -> tuple[str, ...]:
    base = env.get("ONEAPI_ROOT", _VENDOR).rstrip("/")
    return tuple(
        f"{base}/{part}/latest/{folder}"
        for part in ("tbb", "compiler")
        if part in root.listdir(base)
        for folder in ("lib", "lib/intel64/gcc4.8", "linux/compiler/lib/intel64_lin")
    )


def _newest_first(paths: list[str], wanted: set[str]) -> dict[str, list[str]]:
    """Return the files by stem, the highest version first, those without a version last."""
    found: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for path in paths:
        name = path.rpartition("/")[2]
        if (
            name.partition(".so")[0] not in wanted
        ):  # most are not, and the regular expression is slower
            continue
        if match := _FILE.fullmatch(name):
            version = tuple(int(part) for part in match[2].split(".")[1:])
            found.setdefault(match[1], []).append((version, path))
    return {
        stem: [path for _, path in sorted(files, key=lambda file: file[0], reverse=True)]
        for stem, files in found.items()
    }


def _fits(root: Root, path: str, arch: str) -> bool:
    place = root.on_host(path)
    ident = read_ident(place) if place is not None else None
    return ident is not None and ident.runs_on(arch)
