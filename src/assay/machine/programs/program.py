"""Program of a command, its dependencies, and the runtimes that settings affect.

Nothing is executed, except a Python interpreter on the running host, once, to query its package
directories. Observations of a launch are stronger evidence: see ``with_observations``.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError
from assay.machine.document import Program
from assay.machine.packages import read_contents
from assay.machine.programs import sanitizers
from assay.machine.programs.command import Command, base_name, unwrap
from assay.machine.programs.elf import Elf, read_elf
from assay.machine.programs.loader import link
from assay.machine.programs.program_digest import program_digest
from assay.machine.programs.python import find_imports, is_python, parse_call, query_interpreter
from assay.machine.programs.runtimes import embedded_runtimes, runtime_of_tool, runtimes_of_files
from assay.machine.root import Root

_DEFAULT_PATH = "/bin:/usr/bin"
"""Search path of ``execvp(3)`` without ``PATH`` (glibc 2.24 and later)."""

_SHEBANG_BYTES = 256
"""The kernel's limit on the first line of a script (``BINPRM_BUF_SIZE``)."""

_MAX_SHEBANGS = 4
"""The kernel's limit on nested interpreters (``search_binary_handler``)."""

_INTERPRETERS = re.compile(
    r"(?:ba|da|z|k|a)?sh|perl[\d.]*|ruby[\d.]*|node|nodejs|Rscript|julia|lua(?:jit)?[\d.]*|php[\d.]*"
    r"|awk|gawk|mawk|octave|tclsh[\d.]*|guile"
)
"""Programs whose first argument that is a file is the script to run."""


class _Target(msgspec.Struct, frozen=True):
    """Resolved program of a command.

    Attributes:
        path: the file that the command names.
        command: the final command: an interpreter with its script, or the program.
        executable: the file of that command.
        interpreter: its name, if it runs a script.
        scripts: script files that it runs.
    """

    path: str
    command: Command
    executable: str
    interpreter: str | None = None
    scripts: tuple[str, ...] = ()


class _ProgramContents(msgspec.Struct, frozen=True):
    """Contents of a program.

    Attributes:
        reasons: evidence of each runtime.
        packages: imported packages.
        sources: source files of the program.
        beside: files of its packages, mainly native libraries.
        versions: versions of its packages.
        executable: its own file, if the named one is only a wrapper.
    """

    reasons: Mapping[str, str]
    packages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()
    executable: str | None = None


def inspect(
    argv: Sequence[str],
    root: Root | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Program:
    """Return the dependencies of a command; an unknown command has no ``path``.

    Args:
        argv: words of the command.
        root: root of the files; by default the running host.
        env: its environment; by default that of this process, empty for a recorded tree.
        cwd: working directory for relative paths; by default that of this process, or ``/``.

    Raises:
        InvalidInputError: the command is empty.
    """
    root = root or Root()
    if not argv:
        raise InvalidInputError(
            "The command is empty.", "Write the command after `--`, with its arguments."
        )
    if env is None:
        env = os.environ if root.live else {}
    if cwd is None:
        cwd = str(Path.cwd()) if root.live else "/"
    given = Command(tuple(argv), env, cwd)
    command = unwrap(given, lambda inner: _exists(root, inner))
    known = Program(argv0=argv[0], through=command.through)
    for word in command.through:
        if find_program(root, word, env, cwd) is None:
            return msgspec.structs.replace(known, missing=word)
    target = _target(root, command, _MAX_SHEBANGS)
    if target is None:
        return msgspec.structs.replace(known, missing=command.argv[0])
    return _describe(root, target, known)


def _exists(root: Root, command: Command) -> bool:
    return find_program(root, command.argv[0], command.env, command.cwd) is not None


def with_observations(
    program: Program,
    maps: Iterable[str] = (),
    threads_peak: int | None = None,
    peak_anon_bytes: int | None = None,
) -> Program:
    """Return the program with observations of a launch.

    An observation replaces evidence from files. Other evidence stays: a runtime may be loaded
    later, or by another process of the tree.

    Args:
        program: the program so far.
        maps: its mapped files (``RunFacts.readback.maps``).
        threads_peak: highest number of threads.
        peak_anon_bytes: highest anonymous and shared memory, in bytes.
    """
    files = sorted({path.removesuffix(" (deleted)") for path in maps if path.startswith("/")})
    objects = [path for path in files if re.search(r"\.so(?:\.|$)", path)]
    packages = {
        match[1]
        for path in objects
        for match in re.finditer(r"/(?:site|dist)-packages/([A-Za-z_]\w*)/", path)
    }
    reasons = {
        name: f"mapped in the run: {path}" for name, path in runtimes_of_files(objects).items()
    }
    seen = {*program.sanitizers_seen, *sanitizers.sanitizers_of_files(objects)}
    return msgspec.structs.replace(
        program,
        libraries=tuple(sorted({*program.libraries, *objects})),
        packages=tuple(sorted({*program.packages, *packages})),
        sanitizers_seen=tuple(sorted(seen - set(program.sanitizers))),
        runtimes=program.runtimes | frozenset(reasons),
        reasons=dict(sorted({**program.reasons, **reasons}.items())),
        threads_peak=_highest(program.threads_peak, threads_peak),
        peak_anon_bytes=_highest(program.peak_anon_bytes, peak_anon_bytes),
    )


def find_program(root: Root, word: str, env: Mapping[str, str], cwd: str) -> str | None:
    """Return the file that ``execvp(3)`` would run for a word; links in its path are kept.

    A virtual environment's interpreter is a link, and is identified by its path.
    """
    if not word:
        return None
    if "/" in word:
        candidates = [word]
    else:
        folders = env.get("PATH", _DEFAULT_PATH).split(":")
        candidates = [f"{folder or '.'}/{word}" for folder in folders]
    for candidate in candidates:
        path = posixpath.normpath(posixpath.join(cwd, candidate))
        place = root.on_host(path)
        if place is not None and _executable(place):
            return path
    return None


def _executable(place: Path) -> bool:
    """Return whether the file is executable; false in a directory without search permission."""
    try:
        return place.is_file() and os.access(place, os.X_OK)
    except PermissionError:  # pathlib ignores it only from Python 3.14 on
        return False


def _target(root: Root, command: Command, shebangs: int) -> _Target | None:
    path = find_program(root, command.argv[0], command.env, command.cwd)
    if path is None:
        return None
    name = base_name(command.argv[0])
    if is_python(name):
        # Also if it is a script: pyenv and others wrap the interpreter.
        return _python_target(path, command)
    line = _shebang(root, path)
    if line and shebangs:
        inner = unwrap(
            msgspec.structs.replace(command, argv=(*line, path, *command.argv[1:]), through=())
        )
        target = _target(root, inner, shebangs - 1)
        if target is not None:
            return _behind_shebang(target, path, inner)
    if _INTERPRETERS.fullmatch(name):
        scripts = _scripts(root, command)
        runs = bool(scripts) or not {"-c", "-e"}.isdisjoint(command.argv[1:])
        return _Target(path, command, path, name if runs else None, scripts)
    return _Target(path, command, path)


def _python_target(path: str, command: Command) -> _Target:
    call = parse_call(command.argv[1:])
    scripts = (posixpath.join(command.cwd, call.target),) if call.form == "script" else ()
    runs = call.form != "none"
    return _Target(path, command, path, base_name(command.argv[0]) if runs else None, scripts)


def _behind_shebang(target: _Target, path: str, inner: Command) -> _Target:
    scripts = tuple(dict.fromkeys((path, *target.scripts)))
    interpreter = target.interpreter or base_name(inner.argv[0])
    return msgspec.structs.replace(target, path=path, interpreter=interpreter, scripts=scripts)


def _shebang(root: Root, path: str) -> tuple[str, ...]:
    """Return interpreter and its one argument, split as by ``execve(2)``."""
    head = root.read_bytes(path, _SHEBANG_BYTES) or b""
    if not head.startswith(b"#!"):
        return ()
    line = head[2:].partition(b"\n")[0].decode(errors="replace").strip()
    return tuple(line.split(None, 1))


def _scripts(root: Root, command: Command) -> tuple[str, ...]:
    for word in command.argv[1:]:
        if word in ("-c", "-e"):
            return ()
        path = posixpath.normpath(posixpath.join(command.cwd, word))
        place = root.on_host(path)
        if not word.startswith("-") and place is not None and place.is_file():
            return (path,)
    return ()


def _describe(root: Root, target: _Target, known: Program) -> Program:
    name = base_name(target.command.argv[0])
    found = _python_inside(root, target) if is_python(name) else _native_inside(root, target)
    executable = found.executable or target.executable
    place = root.on_host(executable)
    elf = read_elf(place) if place is not None else None
    libraries = _libraries(root, executable, elf, target.command.env)
    linked = {name: f"linked: {path}" for name, path in runtimes_of_files(libraries).items()}
    reasons = {**found.reasons, **linked}
    files = tuple(dict.fromkeys((executable, target.path, *target.scripts)))
    sources = (*files, *found.sources)
    return msgspec.structs.replace(
        known,
        path=target.path,
        kind="script" if target.interpreter else ("elf" if elf else "unknown"),
        interpreter=target.interpreter,
        static=elf is not None and elf.loader is None,
        loader=elf.loader if elf else None,
        elf_machine=elf.ident.machine if elf else 0,
        elf_bits=elf.ident.bits if elf else 0,
        sanitizers=_sanitizers(place if elf else None, libraries),
        libraries=libraries,
        packages=found.packages,
        runtimes=frozenset(reasons),
        digest=program_digest(root, sources, {*libraries, *found.beside}, found.versions),
        files=files,
        reasons=dict(sorted(reasons.items())),
    )


def _python_inside(root: Root, target: _Target) -> _ProgramContents:
    command = target.command
    call = parse_call(command.argv[1:])
    interpreter = query_interpreter(root, target.executable, call.options, command.env, command.cwd)
    imports = find_imports(root, call, interpreter.folders, command.cwd)
    packages = tuple(sorted(imports.packages))
    held = read_contents(root, packages, interpreter.folders, command.env)
    return _ProgramContents(
        held.reasons,
        packages,
        imports.files,
        held.files,
        held.versions,
        interpreter.executable,
    )


def _native_inside(root: Root, target: _Target) -> _ProgramContents:
    reasons: dict[str, str] = {}
    tool = runtime_of_tool(base_name(target.path))
    if tool:
        reasons[tool] = f"{base_name(target.path)} reads options from the environment"
    place = root.on_host(target.executable)
    if place is not None and target.interpreter is None:
        for name, mark in embedded_runtimes(place).items():
            reasons[name] = f"statically linked: the file contains {mark}"
    return _ProgramContents(reasons)


def _sanitizers(place: Path | None, libraries: Iterable[str]) -> tuple[str, ...]:
    own = () if place is None else sanitizers.embedded_sanitizers(place)
    return tuple(sorted({*own, *sanitizers.sanitizers_of_files(libraries)}))


def _libraries(root: Root, path: str, elf: Elf | None, env: Mapping[str, str]) -> tuple[str, ...]:
    if elf is None or elf.loader is None:
        return ()
    return tuple(sorted(set(link(root, path, elf, env).found.values())))


def _highest(known: int | None, seen: int | None) -> int | None:
    return max((value for value in (known, seen) if value is not None), default=None)
