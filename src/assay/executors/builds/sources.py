"""Sources: what a program is built from, told by its content.

A build hangs on more than its command: on the files and folders that this names, on the sources
around them, on the tools that it calls, and on variables that compilers read. What no name leads to
(headers of the system, libraries) is taken to come and go with the tools; the user names the rest.
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
"""That compilers and build tools read."""

_ENDINGS = frozenset((
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
"""What a source or a build file is called, in lower case."""
_INSTALLED = ("/usr", "/opt", "/lib", "/lib64", "/nix", "/gnu")
"""Folders of what is installed: where a command names them, they are not gone through."""
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})
MAX_ENTRIES = 50_000
"""Of folders, that are gone through."""
MAX_BYTES = 2**30
"""That are read for one build."""
_PATH_MAX = 4096

_Stamp = tuple[int, int, int, int]


class SourceChangedError(NotPossibleError):
    """What programs are built from is other than when the sitting began.

    Args:
        path: of the file.
        by_build: while a build was under way, perhaps by that.
    """

    def __init__(self, path: Path, *, by_build: bool = False) -> None:
        kept = (
            "What was measured before is kept. `assay study resume` goes on where the file is as "
            "it was; with --new-stratum the new one is measured apart from it."
        )
        alone = (
            "Where the build did that, let it write into {build} alone, or say with --build-input "
            "what it is made from, which then stands for all that assay looks for. What was "
            "measured before is kept."
        )
        super().__init__(
            f"What the program is built from was changed while it was built: {path}."
            if by_build
            else f"What the program is built from was changed while the study ran: {path}.",
            alone if by_build else kept,
        )
        self.path = path


class BuildInputs:
    """Looks at what builds are made from, each file once in a sitting.

    Args:
        recipe: what builds.
        env: its environment.
        apart: folder that is not gone through: that of the builds themselves.
    """

    def __init__(self, recipe: BuildRecipe, env: Mapping[str, str], apart: Path) -> None:
        self._folder = Path(recipe.cwd) if recipe.cwd is not None else Path.cwd()
        self._inputs = recipe.inputs
        self._env = env
        self._apart = apart
        self._known: dict[Path, tuple[_Stamp, str]] = {}
        self._files: dict[tuple[str, ...], tuple[Path, ...]] = {}
        self._below: dict[tuple[Path, bool], tuple[Path, ...]] = {}

    def basis(self, argv: tuple[str, ...]) -> dict[str, str]:
        """What a build hangs on beside its command, by name.

        Args:
            argv: its words.

        Raises:
            InvalidInputError: more files than can be read, or an input that is not there.
            SourceChangedError: one is other than when it was first looked at.
        """
        variables = {f"${name}": self._env[name] for name in VARIABLES if name in self._env}
        tools = {f"tool {path}": _tool(path) for path in self.tools(argv)}
        return {**variables, **tools, **self._digests(argv)}

    def demand_same(self, argv: tuple[str, ...]) -> None:
        """Look at the files of a build once more.

        Raises:
            SourceChangedError: one is other than when it was first looked at.
        """
        self._digests(argv)

    def tools(self, argv: tuple[str, ...]) -> tuple[Path, ...]:
        """Programs in ``PATH`` that a command names."""
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
                    f"The build is made from more than {show_bytes(MAX_BYTES)} of files.",
                    "Name those that count: --build-input PATH, as often as it takes.",
                )
        return digests

    def _digest(self, path: Path) -> tuple[int, str]:
        """Size and digest of a file, read again only where it looks other than before."""
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
        """Every file that a build is made from."""
        if self._inputs:
            return self._of_inputs()
        found = set(self._walked(_normal(self._folder), all_of_it=False))
        named = (self._folder / word for word in (argv[0], *_parts(argv)) if _may_be_path(word))
        for path in map(_normal, named):
            if path.is_file():
                found.add(path)
            elif path.is_dir() and not _is_installed(path):
                found.update(self._walked(path, all_of_it=False))
        return found

    def _of_inputs(self) -> set[Path]:
        """Files that the user named, and all that lie in folders that the user named."""
        found: set[Path] = set()
        for word in self._inputs:
            path = _normal(self._folder / word)
            if path.is_dir():
                found.update(self._walked(path, all_of_it=True))
            elif path.is_file():
                found.add(path)
            else:
                raise InvalidInputError(
                    f"--build-input: there is no {word}.", "Name a file or a folder that is there."
                )
        return found

    def _walked(self, folder: Path, *, all_of_it: bool) -> tuple[Path, ...]:
        """The files below a folder: all of them, or those that look like sources."""
        place = folder, all_of_it
        if place not in self._below:
            found = _entries(folder, self._apart)
            self._below[place] = tuple(path for path in found if all_of_it or _is_source(path))
        return self._below[place]


def _may_be_path(word: str) -> bool:
    return bool(word) and "\0" not in word and "{" not in word and len(word) < _PATH_MAX


def _normal(path: Path) -> Path:
    """Without ``..``; symbolic links stay, since it is the name that a command reads."""
    return Path(os.path.normpath(path))


def _is_installed(folder: Path) -> bool:
    return folder == Path("/") or any(folder.is_relative_to(part) for part in _INSTALLED)


def _entries(top: Path, apart: Path) -> Iterator[Path]:
    """Regular files below a folder; hidden ones and what tools keep for themselves left out."""
    left, folders = MAX_ENTRIES, [top]
    for folder in folders:
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError:  # what may not be read, no build of this user is made from
            continue
        left -= len(entries)
        if left < 0:
            raise InvalidInputError(
                f"More than {MAX_ENTRIES:,} files lie below {top}, from which the program may "
                "be built.",
                "Name those that count: --build-input PATH, as often as it takes.",
            )
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                continue
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                folders += [path] if path != apart else []
            elif entry.is_file():
                yield path


def _parts(argv: tuple[str, ...]) -> Iterator[str]:
    """Words and parts of words that may name a file: ``-Iinclude``, ``CC=gcc``, ``@options``."""
    for word in file_words(argv):
        yield word
        if word.startswith("-") and not word.startswith("--"):
            yield word[2:]
        elif word.startswith("@"):
            yield word[1:]


def _is_source(path: Path) -> bool:
    return path.name.lower() in _NAMES or path.suffix.lower() in _ENDINGS


def _stamp(path: Path) -> _Stamp:
    seen = path.stat()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _content(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tool(path: Path) -> str:
    """What tells a tool from another version of it."""
    real = path.resolve()
    seen = real.stat()
    return f"{real} {seen.st_size} {seen.st_mtime_ns}"
