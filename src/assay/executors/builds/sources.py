"""Source files of a program, identified by their contents.

A build depends on its command, on the files and folders that the command names, on the sources
around them, on its tools, and on variables that compilers read. Files that no name leads to
(headers of the system, libraries) are assumed to change together with the tools; the user names all
others.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError
from assay.launch.file_arguments import file_words
from assay.records import BuildRecipe
from assay.units import show_bytes

# fmt: off
VARIABLES = (
    "ARCHFLAGS", "CC", "CFLAGS", "CGO_CFLAGS", "CMAKE_GENERATOR", "CMAKE_PREFIX_PATH",
    "COMPILER_PATH", "CPATH", "CPPFLAGS", "CPLUS_INCLUDE_PATH", "CXX", "CXXFLAGS",
    "C_INCLUDE_PATH", "FC", "FFLAGS", "GOFLAGS", "LDFLAGS", "LIBRARY_PATH", "MAKEFLAGS",
    "PKG_CONFIG_PATH", "RUSTFLAGS", "SOURCE_DATE_EPOCH",
)
"""Variables that compilers and build tools read."""

_SUFFIXES = frozenset((
    ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".h++", ".inc", ".inl",
    ".ipp", ".tpp", ".i", ".ii", ".s", ".asm", ".f", ".for", ".ftn", ".f77", ".f90", ".f95",
    ".f03", ".f08", ".rs", ".go", ".zig", ".nim", ".swift", ".m", ".mm", ".cu", ".cuh", ".hip",
    ".cl", ".ispc", ".pas", ".adb", ".ads", ".ml", ".mli", ".hs", ".java", ".kt", ".cs",
    ".pyx", ".pxd", ".proto", ".y", ".l", ".def", ".ld", ".lds", ".mk", ".cmake", ".am", ".ac",
    ".in", ".ninja", ".bzl",
))
_NAMES = frozenset((
    "makefile", "gnumakefile", "cmakelists.txt", "cmakepresets.json", "configure", "meson.build",
    "meson_options.txt", "build", "workspace", "cargo.toml", "cargo.lock", "go.mod", "go.sum",
    "pyproject.toml", "setup.py", "sconstruct", "sconscript", "jamfile", "wscript",
))
# fmt: on
"""File names and suffixes of sources and build files, in lower case."""
_INSTALLED = ("/usr", "/opt", "/lib", "/lib64", "/nix", "/gnu")
"""Folders of installed software: a command may name them, but they are not searched."""
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules"})
MAX_ENTRIES = 50_000
"""Largest number of folder entries that are searched."""
MAX_BYTES = 2**30
"""Largest total size of the files that are read for one build."""
_PATH_MAX = 4096

_Stamp = tuple[int, int, int, int]


class SourceChangedError(NotPossibleError):
    """Change of a source file since the session began.

    Args:
        path: path of the file.
        by_build: whether a build ran at that time, and may have caused the change.
    """

    def __init__(self, path: Path, *, by_build: bool = False) -> None:
        kept = (
            "All samples so far are kept. Restore the file and run `assay study resume`, or use "
            "--new-stratum to measure the new version separately."
        )
        alone = (
            "If the build changed it, let the build write only into {build}, or name all of its "
            "inputs with --build-input. All samples so far are kept."
        )
        super().__init__(
            f"A source file was changed during the build: {path}."
            if by_build
            else f"A source file was changed while the study ran: {path}.",
            alone if by_build else kept,
        )
        self.path = path


class BuildInputs:
    """Reads the inputs of builds, each file once in a session.

    Args:
        recipe: recipe of the build.
        env: environment of the build.
        excluded: folder to skip: the cache of builds.
    """

    def __init__(self, recipe: BuildRecipe, env: Mapping[str, str], excluded: Path) -> None:
        self._folder = Path(recipe.cwd) if recipe.cwd is not None else Path.cwd()
        self._inputs = recipe.inputs
        self._env = env
        self._excluded = excluded
        self._known: dict[Path, tuple[_Stamp, str]] = {}
        self._files: dict[tuple[str, ...], tuple[Path, ...]] = {}
        self._below: dict[tuple[Path, bool], tuple[Path, ...]] = {}

    def basis(self, argv: tuple[str, ...]) -> dict[str, str]:
        """Return the inputs of a build, except its command, by name.

        Args:
            argv: build command.

        Raises:
            InvalidInputError: the files are too large, or an input is missing.
            SourceChangedError: a file has changed since it was first read.
        """
        variables = {f"${name}": self._env[name] for name in VARIABLES if name in self._env}
        tools = {f"tool {path}": _tool(path) for path in self.tools(argv)}
        return {**variables, **tools, **self._digests(argv)}

    def demand_same(self, argv: tuple[str, ...]) -> None:
        """Check that the files of a build are unchanged.

        Raises:
            SourceChangedError: a file has changed since it was first read.
        """
        self._digests(argv)

    def tools(self, argv: tuple[str, ...]) -> tuple[Path, ...]:
        """Return the programs in ``PATH`` that a command names."""
        words = (word for word in (argv[0], *_parts(argv)) if word and "/" not in word)
        found = (shutil.which(word, path=self._env.get("PATH")) for word in words)
        return tuple(dict.fromkeys(Path(path) for path in found if path is not None))

    def _digests(self, argv: tuple[str, ...]) -> dict[str, str]:
        if argv not in self._files:
            self._files[argv] = tuple(sorted(self._found(argv)))
        left = MAX_BYTES
        digests: dict[str, str] = {}
        for path in self._files[argv]:
            size, digests[str(path)] = self._digest(path)
            left -= size
            if left < 0:
                raise InvalidInputError(
                    f"The input files of the build exceed {show_bytes(MAX_BYTES)}.",
                    "Name the relevant ones with --build-input PATH; the option may be repeated.",
                )
        return digests

    def _digest(self, path: Path) -> tuple[int, str]:
        """Return size and digest of a file, which is read again only if its metadata changed."""
        before = self._known.get(path)
        try:
            stamp = _stamp(path)
            digest = before[1] if before and before[0] == stamp else _content(path)
        except FileNotFoundError as error:
            raise SourceChangedError(path) from error
        except OSError as error:
            stamp, digest = (0, 0, 0, 0), f"cannot be read: {error.strerror}"
        if before is not None and before[1] != digest:
            raise SourceChangedError(path)
        self._known[path] = stamp, digest
        return stamp[2], digest

    def _found(self, argv: tuple[str, ...]) -> set[Path]:
        """Return all input files of a build."""
        if self._inputs:
            return self._input_files()
        found = set(self._walked(_normal(self._folder), all_of_it=False))
        named = (self._folder / word for word in (argv[0], *_parts(argv)) if _may_be_path(word))
        for path in map(_normal, named):
            if path.is_file():
                found.add(path)
            elif path.is_dir() and not _is_installed(path):
                found.update(self._walked(path, all_of_it=False))
        return found

    def _input_files(self) -> set[Path]:
        """Return the files, and all files in folders, that the user named."""
        found: set[Path] = set()
        for word in self._inputs:
            path = _normal(self._folder / word)
            if path.is_dir():
                found.update(self._walked(path, all_of_it=True))
            elif path.is_file():
                found.add(path)
            else:
                raise InvalidInputError(
                    f"--build-input: {word} does not exist.", "Name an existing file or folder."
                )
        return found

    def _walked(self, folder: Path, *, all_of_it: bool) -> tuple[Path, ...]:
        """Return the files below a folder: all of them, or only source files."""
        place = folder, all_of_it
        if place not in self._below:
            found = _entries(folder, self._excluded)
            self._below[place] = tuple(path for path in found if all_of_it or _is_source(path))
        return self._below[place]


def _may_be_path(word: str) -> bool:
    return bool(word) and "\0" not in word and "{" not in word and len(word) < _PATH_MAX


def _normal(path: Path) -> Path:
    """Return the path without ``..``; symbolic links remain, since the command reads that name."""
    return Path(os.path.normpath(path))


def _is_installed(folder: Path) -> bool:
    return folder == Path("/") or any(folder.is_relative_to(part) for part in _INSTALLED)


def _entries(top: Path, excluded: Path) -> Iterator[Path]:
    """Yield regular files below a folder, without hidden files and files of tools."""
    left, folders = MAX_ENTRIES, [top]
    for folder in folders:
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:  # a build of this user cannot read it either
            continue
        left -= len(entries)
        if left < 0:
            raise InvalidInputError(
                f"More than {MAX_ENTRIES:,} files below {top} may be inputs of the build.",
                "Name the relevant ones with --build-input PATH; the option may be repeated.",
            )
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _IGNORED_FOLDERS:
                continue
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                folders += [path] if path != excluded else []
            elif entry.is_file():
                yield path


def _parts(argv: tuple[str, ...]) -> Iterator[str]:
    """Yield words, and parts of words, that may name a file: ``-Iinclude``, ``CC=gcc``."""
    for word in file_words(argv):
        yield word
        if word.startswith("-") and not word.startswith("--"):
            yield word[2:]
        elif word.startswith("@"):
            yield word[1:]


def _is_source(path: Path) -> bool:
    return path.name.lower() in _NAMES or path.suffix.lower() in _SUFFIXES


def _stamp(path: Path) -> _Stamp:
    seen = path.stat()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _content(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tool(path: Path) -> str:
    """Return an identity of a tool that changes with its version."""
    real = path.resolve()
    seen = real.stat()
    return f"{real} {seen.st_size} {seen.st_mtime_ns}"
