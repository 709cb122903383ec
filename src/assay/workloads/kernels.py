"""Kernels: native programs that hold all ways to do one piece of work, and tell of them as JSON."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.launch.driver import find_launcher
from assay.records import Metric
from assay.records.codec import Record

PREFIX = "assay-kernel-"
_NUMBER = "([0-9.][0-9.eE+-]*)"
REPETITION = Metric(name="repetition_s", unit="s", pattern=f'"median_s":{_NUMBER}')
"""The middle one of a launch's samples; its objective."""
_PATIENCE_S = 600.0
_BAD_WORDS = 2


class Option(Record, frozen=True, kw_only=True):
    """What of the work can be chosen; ``usual`` is 0 of what follows from the size of the data."""

    name: str
    what: str
    usual: int
    least: int


class Figure(Record, frozen=True, kw_only=True):
    """What results of a kernel are judged by beside their time: the less the better."""

    name: str
    what: str

    @property
    def metric(self) -> Metric:
        """As a program tells it with each variant that was right."""
        return Metric(name=self.name, pattern=f'"{re.escape(self.name)}":{_NUMBER}')


class Variant(Record, frozen=True, kw_only=True):
    """A way to do the work.

    Attributes:
        variant: its name.
        parent: the variant that it makes one step from; empty where it is the first.
        isa: what its instructions need.
        why: what the step is.
        broken: wrong on purpose.
        library: that does the work, with its version.
        missing: why it cannot be had here; ``None`` where it can.
        flops, special, moved_bytes, moved_bytes_with_allocate: of one repetition, by the formulas
            of the algorithm.
    """

    variant: str
    parent: str
    isa: str
    why: str
    broken: bool
    library: str = ""
    missing: str | None = None
    flops: float = 0.0
    special: float = 0.0
    moved_bytes: float = 0.0
    moved_bytes_with_allocate: float = 0.0


class Kernel(Record, frozen=True, kw_only=True):
    """A kernel with data of one size.

    Attributes:
        kernel: its name.
        title: what it does.
        source: where the experiment comes from, and what was seen there.
        bound: what limits it.
        options: what can be chosen.
        parameters: what was.
        bytes: of its data.
        variants: parents before what comes of them.
        figures: that each result has beside its time; none of most.
        single: whether its arithmetic is of floats.
    """

    kernel: str
    title: str
    source: str
    bound: str
    options: tuple[Option, ...]
    parameters: dict[str, int]
    bytes: float
    variants: tuple[Variant, ...]
    figures: tuple[Figure, ...] = ()
    single: bool = False

    @property
    def able(self) -> tuple[Variant, ...]:
        """The variants that are right and can be had here."""
        return tuple(one for one in self.variants if not one.broken and one.missing is None)


class Timed(Record, frozen=True, kw_only=True):
    """What a program says of a variant that it has run; times and work are of one repetition.

    ``figures`` are those that the kernel names, where the result was right.
    """

    variant: str
    status: str
    reason: str = ""
    median_s: float = 0.0
    best_s: float = 0.0
    bytes: float = 0.0
    flops: float = 0.0
    moved_bytes: float = 0.0
    figures: dict[str, float] = {}


def find_kernels(env: Mapping[str, str]) -> dict[str, Path]:
    """The programs of this installation, by the names of their kernels.

    Raises:
        NotPossibleError: there is no native part.
    """
    folder = find_launcher(env).parent
    found = sorted(path for path in folder.glob(f"{PREFIX}*") if path.is_file())
    return {path.name.removeprefix(PREFIX): path for path in found}


def find_kernel(name: str, env: Mapping[str, str]) -> Path:
    """The program of one kernel.

    Raises:
        InvalidInputError: there is no such one.
        NotPossibleError: there is no native part.
    """
    known = find_kernels(env)
    if name not in known:
        near = nearest(name, tuple(known))
        raise InvalidInputError(
            f"There is no case {name!r}.",
            f"Did you mean {near}?" if near else "`assay case list` shows those there are.",
        )
    return known[name]


def described(program: Path, words: Sequence[str] = ()) -> Kernel:
    """What a kernel is, with data as the words say.

    Args:
        program: of the kernel.
        words: of its command line: ``--size L2``, ``--threads 2``, ``--n 1000``.

    Raises:
        InvalidInputError: words that it cannot do anything with.
        NotPossibleError: it fails.
    """
    (line,) = _lines(program, ["--describe", *words])
    return msgspec.json.decode(line, type=Kernel)


def timed(
    program: Path, words: Sequence[str], env: Mapping[str, str] | None = None
) -> tuple[Timed, ...]:
    """What a kernel says of variants that it runs, one after another.

    Args:
        program: of the kernel.
        words: of its command line.
        env: that it has in place of this process's.

    Raises:
        InvalidInputError, NotPossibleError: as ``described``.
    """
    lines = _lines(program, words, env)
    return tuple(msgspec.json.decode(line, type=Timed) for line in lines)


def options_of(kernel: Kernel) -> tuple[str, ...]:
    """The words by which a kernel has the very data again, on any CPUs."""
    return tuple(w for name, value in kernel.parameters.items() for w in (f"--{name}", str(value)))


def _lines(
    program: Path, words: Sequence[str], env: Mapping[str, str] | None = None
) -> list[bytes]:
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, timeout=_PATIENCE_S, check=False, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPossibleError(f"{program.name} cannot be run: {error}.") from error
    told = done.stderr.decode(errors="replace").splitlines()
    if done.returncode == _BAD_WORDS and told:
        raise InvalidInputError(
            f"{told[0].removeprefix(f'{program.name}: ')}.",
            f"`assay case show {program.name.removeprefix(PREFIX)}` tells what it takes.",
        )
    if done.returncode:
        why = f": {told[0]}" if told else ""
        raise NotPossibleError(
            f"{program.name} ended with {done.returncode}{why}.",
            "Ask for less data, or run it by hand.",
        )
    return done.stdout.splitlines()
