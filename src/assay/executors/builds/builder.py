"""Builder: builds the program of each configuration, before its launches and outside them."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType

import msgspec

from assay.errors import WorkloadFailedError
from assay.executors.builds.cache import BuildCache, BuildFolder, BuildNote, builds_folder
from assay.executors.builds.evidence import build_evidence, revision_evidence
from assay.executors.builds.revisions import RevisionMovedError, Revisions
from assay.executors.builds.sources import BuildInputs, SourceChangedError
from assay.executors.evidence.failure_output import MAX_LINE_CHARACTERS, error_line, failure_excerpt
from assay.executors.evidence.output import kept_output
from assay.executors.hooks.command import run_command
from assay.executors.hooks.runner import no_time_budget
from assay.executors.missing_inputs import demand_folder
from assay.launch.build_command import (
    build_command,
    build_key,
    build_values,
    with_build_folder,
    with_build_path,
)
from assay.launch.file_arguments import file_words
from assay.records import Evidence, Launch, Outcome, Output, Plan, Sample, Workload
from assay.records.sample import BUILD
from assay.signals import ARRIVAL_DELAY_S
from assay.units import show_duration, show_signal
from assay.untrusted import clean

MIN_FIRST_TIMEOUT_S = 600.0
"""Shortest time limit of a first build, in seconds, independent of the remaining budget."""
MIN_LATER_TIMEOUT_S = 60.0
"""Shortest time limit of each later build, in seconds."""
MAX_TIMEOUT_FACTOR = 10.0
"""Ratio of the time limit of a build to the longest earlier build, so that a build that hangs is
ended."""
FOLDER_VARIABLE = "ASSAY_BUILD_DIR"
"""Variable that names the output folder of a build, in addition to ``{build}`` in its command."""
_TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_VERSION_TIMEOUT_S = 5.0
_COMPILERS = re.compile(
    r"(?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|gfortran|flang|icc|icpc|icx|icpx|ifx|ifort"
    r"|nvcc|hipcc|tcc|rustc|ghc|gdc|ldc2|gnatmake)(?:-[\d.]+)?"
)
"""Programs that only print their version on ``--version``."""


BuildProgress = Callable[[tuple[str, ...]], AbstractContextManager[None]]
"""Context that is called with the command of a build and entered while it runs."""


def no_progress(argv: tuple[str, ...]) -> AbstractContextManager[None]:
    """Report no progress of a build."""
    return nullcontext()


class BuildFailedError(WorkloadFailedError):
    """Failed build.

    Args:
        argv: command, with ``{build}`` for the folder.
        cwd: working folder.
        reason: short description of the failure.
        excerpt: last lines of its output, one per line.
        error_text: most informative line of its output.
        output: kept part of its output.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        cwd: str | None,
        reason: str,
        excerpt: str = "",
        error_text: str = "",
        output: Output | None = None,
    ) -> None:
        super().__init__(
            f"The program cannot be built: the command {reason}.{excerpt}",
            f"Run it by hand{f' in {cwd}' if cwd else ''}, with a folder in place of {{build}}: "
            f"{clean(shlex.join(argv))}",
        )
        self.reason = f"the build {reason}" + (f": {error_text}" if error_text else "")
        self.output = output


class BuildResult(msgspec.Struct, frozen=True):
    """Workload and evidence of a build.

    Attributes:
        workload: workload with the build folder in its placeholders; unchanged if it needs no
            build.
        evidence: description and duration of the build, at its first use.
    """

    workload: Workload
    evidence: tuple[Evidence, ...] = ()


class Builder:
    """Builds the program of each configuration, or finds an earlier build of it.

    A failed build is not repeated. The recipe sets the time limit of a build. Without it, the first
    build may take the remaining budget, at least ``min_timeout_s``. A later build may take ten
    times as long as the longest earlier one, at least a minute. At the limit the build and its
    processes are killed. A build runs in the base environment of the launches, without the settings
    of an arm.

    Args:
        workload: source of the recipe; without a recipe no build is made.
        env: base environment of the launches.
        host: identity of the host type: a compiler may adapt to the processor.
        left_s: returns the remaining budget in seconds; ``None`` for a budget of launches.
        min_timeout_s: shortest time limit of the first build, in seconds.
        progress: progress of each build that is not found in the cache.
    """

    def __init__(
        self,
        workload: Workload,
        env: Mapping[str, str],
        host: str = "",
        left_s: Callable[[], float | None] = no_time_budget,
        min_timeout_s: float = MIN_FIRST_TIMEOUT_S,
        progress: BuildProgress = no_progress,
    ) -> None:
        self._workload = workload
        self._env = dict(env)
        self._host = host
        self._left_s = left_s
        self._min_timeout_s = min_timeout_s
        self._progress = progress
        self._opened: tuple[BuildCache, BuildInputs] | None = None
        self._revisions: Revisions | None = None
        self._commits: dict[str, str | None] = {}
        self._keys: dict[tuple[str, ...], str] = {}
        self._failed: dict[tuple[str, ...], BuildFailedError] = {}
        self._reported: set[str] = set()
        self._longest_s: float | None = None

    def __enter__(self) -> Builder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the builds."""
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    def built(self, plan: Plan) -> BuildResult:
        """Build the program of a plan, or find an earlier build.

        Raises:
            BuildFailedError: the build fails.
            InvalidInputError: ``build.NAME`` is set but has no placeholder; or the source files are
                too large.
            SourceChangedError: a source file has changed since the session began.
            RevisionMovedError: a branch or tag of the sources has moved.
            NotPossibleError: the cache folder cannot be used.
        """
        argv = build_command(plan, self._workload)
        if not argv:
            return BuildResult(self._workload)
        if argv in self._failed:
            raise self._failed[argv]
        builds, sources = self._open()
        values = self._values(plan)
        key = self._key(argv, sources, values)
        try:
            note = builds.find(key) or self._build(argv, key, builds, sources, values)
        except BuildFailedError as failed:
            self._failed[argv] = failed
            raise
        self._longest_s = max(self._longest_s or 0.0, note.elapsed_s)
        evidence: tuple[Evidence, ...] = ()
        if key not in self._reported:
            evidence = (build_evidence(note), *self._revision_evidence(values))
        self._reported.add(key)
        return BuildResult(with_build_folder(self._workload, str(builds.files(key))), evidence)

    def ready(self, plan: Plan) -> bool:
        """Return whether ``built`` returns at once: no build, an earlier build, or a known failure.

        Raises:
            As ``built``, but for ``BuildFailedError``.
        """
        key = self.key(plan)
        if key is None or build_command(plan, self._workload) in self._failed:
            return True
        return self._open()[0].find(key) is not None

    def key(self, plan: Plan) -> str | None:
        """Return the key that identifies the inputs of a build; ``None`` without a build.

        Raises:
            As ``built``, but for ``BuildFailedError``.
        """
        argv = build_command(plan, self._workload)
        return self._key(argv, self._open()[1], self._values(plan)) if argv else None

    def commits(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the commits that values name in the repository around the build's folder.

        A name keeps its commit for the lifetime of this object.

        Args:
            values: of ``build.NAME``, by name.
        """
        if self._revisions is None:
            folder = Path(self._cwd) if self._cwd is not None else Path.cwd()
            self._revisions = Revisions(folder, self._env)
        for value in values.values():
            if value not in self._commits:
                self._commits[value] = self._revisions.commit(value)
        found = {name: self._commits[value] for name, value in values.items()}
        return {name: commit for name, commit in found.items() if commit is not None}

    def _values(self, plan: Plan) -> dict[str, str]:
        recipe = self._workload.build
        return {} if recipe is None else build_values(plan, recipe)

    def _revision_evidence(self, values: Mapping[str, str]) -> tuple[Evidence, ...]:
        commits = self.commits(values)
        if not commits or self._revisions is None:
            return ()
        return revision_evidence(values, commits, self._revisions.uncommitted())

    def _demand_same_commits(self, values: Mapping[str, str]) -> None:
        for name, commit in self.commits(values).items():
            assert self._revisions is not None
            now = self._revisions.commit(values[name])
            if now != commit:
                raise RevisionMovedError(values[name], commit, now)

    def _open(self) -> tuple[BuildCache, BuildInputs]:
        if self._opened is None:
            assert self._workload.build is not None
            builds = BuildCache(builds_folder(self._env))
            self._opened = builds, BuildInputs(self._workload.build, self._env, builds.root)
        return self._opened

    def _key(self, argv: tuple[str, ...], sources: BuildInputs, values: Mapping[str, str]) -> str:
        recipe = self._workload.build
        assert recipe is not None
        if argv not in self._keys:
            demand_folder(recipe.cwd)
            basis = {"host": self._host, **sources.basis(argv)}
            commits = self.commits(values)
            basis |= {f"commit of {values[name]}": commit for name, commit in commits.items()}
            self._keys[argv] = build_key(argv, recipe, basis)
        return self._keys[argv]

    def _build(
        self,
        argv: tuple[str, ...],
        key: str,
        builds: BuildCache,
        sources: BuildInputs,
        values: Mapping[str, str],
    ) -> BuildNote:
        """Run the build, unless another process has completed it meanwhile."""
        limit_s = self._limit_s()
        with builds.lock(key, limit_s) as build_folder:
            found = builds.find(key)
            if found is not None:
                return found
            try:
                sources.demand_same(argv)
                self._demand_same_commits(values)
                build_folder.clear()
                began = time.monotonic()
                with self._progress(argv):
                    self._run(argv, build_folder, limit_s)
                elapsed_s = time.monotonic() - began
                _demand_unchanged(argv, sources)
                self._demand_same_commits(values)
                note = BuildNote(
                    key=key,
                    argv=argv,
                    cwd=self._cwd,
                    compiler=_compiler(argv, sources.tools(argv), self._env),
                    elapsed_s=elapsed_s,
                    size_bytes=_size_bytes(build_folder.files),
                    built_at=time.time(),
                )
                build_folder.complete(note)
            except BaseException:
                build_folder.remove()
                raise
            return note

    def _limit_s(self) -> float:
        """Return the time limit of the next build, in seconds."""
        recipe = self._workload.build
        if recipe is not None and recipe.timeout_s is not None:
            return recipe.timeout_s
        limit_s = max(self._min_timeout_s, self._left_s() or 0.0)
        if self._longest_s is None:
            return limit_s
        return min(limit_s, max(MIN_LATER_TIMEOUT_S, MAX_TIMEOUT_FACTOR * self._longest_s))

    @property
    def _cwd(self) -> str | None:
        return self._workload.build.cwd if self._workload.build else None

    def _run(self, argv: tuple[str, ...], build_folder: BuildFolder, limit_s: float) -> None:
        """Run a build into its folder.

        Raises:
            BuildFailedError: the build cannot be started, fails, exceeds its time limit or creates
                no file.
        """
        folder = str(build_folder.files)
        words = with_build_path(argv, folder)
        with build_folder.output.open("w+b") as output:

            def failed(reason: str) -> BuildFailedError:
                output.flush()
                printed = kept_output(build_folder.output)
                printed = printed and msgspec.structs.replace(printed, stream="stderr")
                return BuildFailedError(
                    argv, self._cwd, reason, failure_excerpt(output), error_line(output), printed
                )

            try:
                status = run_command(
                    words,
                    output,
                    cwd=self._cwd,
                    env={**self._env, FOLDER_VARIABLE: folder},
                    limit_s=limit_s,
                    keep_open=(build_folder.fd,),
                    own_group=True,
                )
            except OSError as error:
                raise failed(f"cannot be started: {error.strerror}: {words[0]}") from error
            except subprocess.TimeoutExpired as error:
                raise failed(
                    f"took longer than {show_duration(limit_s)} and was ended (extend the limit "
                    "with --build-timeout)"
                ) from error
            if -status in _TERMINATION_SIGNALS:
                # Ctrl-C, for instance, is addressed to assay as well: it is raised here.
                time.sleep(ARRIVAL_DELAY_S)
            if status:
                raise failed(_ended(status))
            if not any(build_folder.files.iterdir()):
                raise failed("succeeded, but created no file in {build}")


def _demand_unchanged(argv: tuple[str, ...], sources: BuildInputs) -> None:
    try:
        sources.demand_same(argv)
    except SourceChangedError as changed:
        raise SourceChangedError(changed.path, by_build=True) from changed


def failed_sample(launch: Launch, failed: BuildFailedError) -> Sample:
    """Return the sample of a launch whose build failed."""
    return Sample(
        launch=launch,
        outcome=Outcome.FAILED,
        message=failed.reason,
        evidence=(Evidence(kind=BUILD, note=failed.reason),),
        started_at=time.time(),
        outputs=(failed.output,) if failed.output is not None else (),
    )


def _ended(status: int) -> str:
    return f"ended with status {status}" if status > 0 else f"was ended by {show_signal(-status)}"


def _compiler(argv: tuple[str, ...], tools: Iterable[Path], env: Mapping[str, str]) -> str | None:
    """Return the version line of the first compiler that a command names."""
    named = (Path(word) for word in (argv[0], *file_words(argv)) if "/" in word)
    for path in (*tools, *(path for path in named if path.is_file())):
        if _COMPILERS.fullmatch(path.name):
            try:
                done = subprocess.run(
                    [path, "--version"],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    env=dict(env),
                    timeout=_VERSION_TIMEOUT_S,
                )
            except (OSError, subprocess.SubprocessError):
                return None
            lines = done.stdout.decode(errors="replace").splitlines()
            return clean(lines[0])[:MAX_LINE_CHARACTERS] if lines and not done.returncode else None
    return None


def _size_bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
