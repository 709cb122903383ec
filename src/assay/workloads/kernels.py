"""Kernels: native programs with all variants of one piece of work, described in JSON."""

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
"""Median over the samples of a launch; the objective of a comparison."""
_TIMEOUT_S = 600.0
_USAGE_ERROR = 2


class Option(Record, frozen=True, kw_only=True):
    """A parameter of the work.

    Attributes:
        name: name on the command line.
        description: description.
        default: default value; 0 if it follows from the size of the data.
        minimum: least value.
    """

    name: str
    description: str
    default: int
    minimum: int


class Figure(Record, frozen=True, kw_only=True):
    """A measure of quality of a kernel's results beside their time: less is better.

    Attributes:
        name: name of the metric.
        description: meaning of the metric.
    """

    name: str
    description: str

    @property
    def metric(self) -> Metric:
        """The metric of a launch with a correct result."""
        return Metric(name=self.name, pattern=f'"{re.escape(self.name)}":{_NUMBER}')


class Variant(Record, frozen=True, kw_only=True):
    """A way to do the work.

    Attributes:
        variant: name of the variant.
        parent: variant that this one improves by one step; empty for the first one.
        isa: required instruction set, as a level of the psABI or ``any``.
        description: description of the step.
        incorrect: true if the result is wrong on purpose, to test the check of results.
        library: library that does the work, with its version.
        unavailable: reason why the variant is not available on this machine.
        flops: additions and multiplications of one repetition, by the formulas of the algorithm.
        special_functions: special functions of one repetition, such as square roots.
        moved_bytes: bytes that one repetition has to move.
        moved_bytes_with_allocate: the same, with the reads that ordinary stores cause.
    """

    variant: str
    parent: str
    isa: str
    description: str
    incorrect: bool
    library: str = ""
    unavailable: str | None = None
    flops: float = 0.0
    special_functions: float = 0.0
    moved_bytes: float = 0.0
    moved_bytes_with_allocate: float = 0.0


class Kernel(Record, frozen=True, kw_only=True):
    """A kernel with data of one size.

    Attributes:
        kernel: name of the kernel.
        title: description in one phrase.
        source: publication of the experiment, and its result there.
        bound: limiting resource.
        options: parameters of the work.
        parameters: values of the parameters, by name.
        bytes: size of the data, in bytes.
        variants: all variants, each after its parent.
        figures: further measures of quality of a result; most kernels have none.
        single: true if the arithmetic has single precision.
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
    def available(self) -> tuple[Variant, ...]:
        """The variants that are available here, without those that are wrong on purpose."""
        return tuple(
            variant
            for variant in self.variants
            if not variant.incorrect and variant.unavailable is None
        )


class VariantTimes(Record, frozen=True, kw_only=True):
    """Result of one launch of a variant; times and work are those of one repetition.

    ``figures`` are those that the kernel names, for a correct result.
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
    """Return the programs of this installation, by the names of their kernels.

    Raises:
        NotPossibleError: the native part is missing.
    """
    folder = find_launcher(env).parent
    found = sorted(path for path in folder.glob(f"{PREFIX}*") if path.is_file())
    return {path.name.removeprefix(PREFIX): path for path in found}


def find_kernel(name: str, env: Mapping[str, str]) -> Path:
    """Return the program of one kernel.

    Raises:
        InvalidInputError: unknown kernel.
        NotPossibleError: the native part is missing.
    """
    known = find_kernels(env)
    if name not in known:
        near = nearest(name, tuple(known))
        raise InvalidInputError(
            f"Unknown case {name!r}.",
            f"Did you mean {near}?" if near else "`assay case list` shows all cases.",
        )
    return known[name]


def describe(program: Path, words: Sequence[str] = ()) -> Kernel:
    """Return the description of a kernel.

    Args:
        program: program of the kernel.
        words: its arguments, such as ``--size L2``, ``--threads 2``, ``--n 1000``.

    Raises:
        InvalidInputError: invalid arguments.
        NotPossibleError: the program fails.
    """
    (line,) = _lines(program, ["--describe", *words])
    return msgspec.json.decode(line, type=Kernel)


def run_variants(
    program: Path, words: Sequence[str], env: Mapping[str, str] | None = None
) -> tuple[VariantTimes, ...]:
    """Run variants of a kernel one after another, and return their times.

    Args:
        program: program of the kernel.
        words: its arguments.
        env: its environment (default: that of this process).

    Raises:
        InvalidInputError: invalid arguments.
        NotPossibleError: the program fails.
    """
    lines = _lines(program, words, env)
    return tuple(msgspec.json.decode(line, type=VariantTimes) for line in lines)


def parameter_words(kernel: Kernel) -> tuple[str, ...]:
    """Return the arguments that reproduce the kernel's data on any CPUs."""
    return tuple(w for name, value in kernel.parameters.items() for w in (f"--{name}", str(value)))


def _lines(
    program: Path, words: Sequence[str], env: Mapping[str, str] | None = None
) -> list[bytes]:
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, timeout=_TIMEOUT_S, check=False, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPossibleError(f"Cannot run {program.name}: {error}.") from error
    errors = done.stderr.decode(errors="replace").splitlines()
    if done.returncode == _USAGE_ERROR and errors:
        raise InvalidInputError(
            f"{errors[0].removeprefix(f'{program.name}: ')}.",
            f"`assay case show {program.name.removeprefix(PREFIX)}` shows its parameters.",
        )
    if done.returncode:
        why = f": {errors[0]}" if errors else ""
        raise NotPossibleError(
            f"{program.name} ended with status {done.returncode}{why}.",
            "Use less data, or run the program directly.",
        )
    return done.stdout.splitlines()
