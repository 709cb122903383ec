"""``assay case run``: a case measured, variant by variant, beside what the machine can do."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from assay.bundle.files import replacing
from assay.cli.case.asked import data_words, thread_words
from assay.cli.case.told import ladder_document, ladder_lines
from assay.cli.files.target import target_of
from assay.cli.requests.request import budget_of, disturbed_above_of
from assay.cli.show.documents import print_json
from assay.cli.show.layout import fitted, width_of
from assay.cli.show.progress import Progress, wants_live
from assay.cli.wire import laboratory_of, store_of
from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.records import Arm, Kind, Sample, StudySpec, Workload
from assay.study.session import Result, begin
from assay.workloads.kernels import (
    REPETITION,
    Kernel,
    Variant,
    described,
    find_kernel,
    options_of,
)
from assay.workloads.ladder import arms_of, ladder
from assay.workloads.roofline import roofline_svg
from assay.workloads.roofs import measured_roofs

LAUNCH_S = 0.2
"""A launch goes on so long, beside its first repetition."""


def run(arguments: argparse.Namespace) -> int:
    """Measure it.

    Raises:
        InvalidInputError: no such case, variant or data.
        NotPossibleError: it cannot be run.
        AssayError: as a comparison.
    """
    picture = target_of("--output", arguments.output, (".svg",)) if arguments.output else None
    program = find_kernel(arguments.name, os.environ)
    threads = thread_words(arguments, os.environ)
    kernel = described(program, (*data_words(arguments), *threads))
    if not kernel.bytes:
        raise InvalidInputError("With no data there is nothing to measure.", "Say a larger --size.")
    chosen = _chosen(kernel, arguments.variant)
    roofs = measured_roofs(kernel, threads, os.environ)
    arms = arms_of(program, kernel, chosen, (*options_of(kernel), *threads), LAUNCH_S)
    spec = _spec(arguments, kernel, arms)
    result, samples = _measured(arguments, spec)
    steps = ladder(kernel, chosen, result.conclusion, samples)
    # Once more: what others did meanwhile lowered the first, if not both.
    roofs = roofs.higher(measured_roofs(kernel, threads, os.environ))
    if arguments.json:
        print_json(ladder_document(result, kernel, steps, roofs))
    else:
        lines = ladder_lines(result, kernel, steps, roofs, quiet=arguments.quiet)
        print("\n".join(fitted(lines, width_of(sys.stdout))), flush=True)
    # Last, for a picture that cannot be written is no reason to lose the answer.
    if picture is not None:
        with replacing(picture) as file:
            file.write(roofline_svg(kernel, steps, roofs).encode())
    return 0


def _chosen(kernel: Kernel, names: list[str]) -> tuple[Variant, ...]:
    """The variants that are run, parents first.

    Raises:
        InvalidInputError: one that there is not, or that is wrong on purpose.
        NotPossibleError: one that cannot be had here; or there are not two.
    """
    known = {one.variant: one for one in kernel.variants}
    for name in names:
        if name not in known:
            near = nearest(name, tuple(known))
            raise InvalidInputError(
                f"{kernel.kernel} has no variant {name!r}.",
                f"Did you mean {near}?" if near else f"`assay case show {kernel.kernel}` has them.",
            )
        if known[name].broken:
            raise InvalidInputError(
                f"{name} is {known[name].why}.", "It is there for the tests: name another."
            )
        if known[name].missing is not None:
            raise NotPossibleError(
                f"{name} cannot be had here: {known[name].missing}.", "Name another."
            )
    chosen = tuple(one for one in kernel.able if not names or one.variant in names)
    if len(chosen) < 2:
        raise NotPossibleError(
            f"Of {kernel.kernel} there is one variant here, and nothing to hold it against.",
            f"`assay measure -- {shlex.quote(kernel.kernel)}` needs no other."
            if not names
            else "Name two.",
        )
    return chosen


def _spec(arguments: argparse.Namespace, kernel: Kernel, arms: tuple[Arm, ...]) -> StudySpec:
    metrics = (REPETITION, *(one.metric for one in kernel.figures))
    argv = tuple(shlex.split(str(arms[0].configuration["command"])))
    return StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(
            argv=argv,
            metrics=metrics,
            cwd=os.getcwd(),  # noqa: PTH109
            outputs_may_differ=True,  # each variant checks its own result
        ),
        budget=budget_of(arguments),
        arms=arms,
        seed=arguments.seed,
        disturbed_above=disturbed_above_of(arguments, os.environ),
    )


def _measured(arguments: argparse.Namespace, spec: StudySpec) -> tuple[Result, list[Sample]]:
    lab = laboratory_of(spec, arguments.helper)
    with (
        store_of(arguments) as store,
        Progress(spec, live=wants_live(arguments), quiet=arguments.quiet) as progress,
    ):
        result = begin(lab, store, spec, progress)
        return result, store.samples(result.study_id)
