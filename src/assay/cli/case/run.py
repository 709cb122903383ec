"""``assay case run``: measure the variants of a case, and compare them with the roofs."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from assay.api.composition import laboratory_of, opened_store
from assay.bundle.files import replace_atomically
from assay.cli.announcements import context_of
from assay.cli.arguments.case import roofline_path, run_request
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.case.kernel_words import data_words, thread_words
from assay.cli.case.rendering import ladder_answer, ladder_lines
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.records import Arm, Kind, StudySpec, Workload, to_builtins
from assay.requests.case import CaseRunRequest
from assay.study.result import StudyResult
from assay.study.session import begin
from assay.workloads.kernels import (
    REPETITION,
    Kernel,
    Variant,
    describe,
    find_kernel,
    parameter_words,
)
from assay.workloads.ladder import arms_of, ladder
from assay.workloads.roofline import roofline_svg
from assay.workloads.roofs import measure_roofs

LAUNCH_S = 0.2
"""Length of a launch after its warm-up, in seconds."""


def run(parsed: Parsed) -> int:
    """Measure the case.

    Raises:
        InvalidInputError: unknown case or variant, or invalid data.
        NotPossibleError: the case does not run here.
        AssayError: an error of the comparison.
    """
    picture = roofline_path(parsed)
    request, options = run_request(parsed), common_options(parsed)
    program = find_kernel(request.name, os.environ)
    threads = thread_words(request, os.environ)
    kernel = describe(program, (*data_words(request), *threads))
    if not kernel.bytes:
        raise InvalidInputError("The size leaves no data to measure.", "Use a larger --size.")
    chosen = _chosen(kernel, request.variants)
    roofs = measure_roofs(kernel, threads, os.environ)
    arms = arms_of(program, kernel, chosen, (*parameter_words(kernel), *threads), LAUNCH_S)
    spec = _spec(request, kernel, arms)
    result = _measure(options, spec)
    steps = ladder(kernel, chosen, result.conclusion, result.samples)
    # Measured again: other processes may have lowered the first figures.
    roofs = roofs.higher(measure_roofs(kernel, threads, os.environ))
    if options.json:
        print_json(to_builtins(ladder_answer(result, kernel, steps, roofs)))
    else:
        lines = ladder_lines(result, kernel, steps, roofs, quiet=options.quiet)
        print("\n".join(wrapped(lines, width_of(sys.stdout))), flush=True)
    # Last, so that an error does not lose the answer.
    if picture is not None:
        with replace_atomically(picture) as file:
            file.write(roofline_svg(kernel, steps, roofs).encode())
    return 0


def _chosen(kernel: Kernel, names: Sequence[str]) -> tuple[Variant, ...]:
    """Return the variants to run, parents first.

    Raises:
        InvalidInputError: an unknown variant, or one that is wrong on purpose.
        NotPossibleError: an unavailable variant, or fewer than two variants.
    """
    known = {one.variant: one for one in kernel.variants}
    for name in names:
        if name not in known:
            near = nearest(name, tuple(known))
            raise InvalidInputError(
                f"{kernel.kernel} has no variant {name!r}.",
                f"Did you mean {near}?"
                if near
                else f"`assay case show {kernel.kernel}` lists all.",
            )
        if known[name].incorrect:
            raise InvalidInputError(
                f"{name} is {known[name].description}.",
                "It exists for tests: name another variant.",
            )
        if known[name].unavailable is not None:
            raise NotPossibleError(
                f"{name} is not available here: {known[name].unavailable}.", "Name another variant."
            )
    chosen = tuple(one for one in kernel.available if not names or one.variant in names)
    if len(chosen) < 2:
        raise NotPossibleError(
            f"{kernel.kernel} has only one variant to run here, and nothing to compare it with.",
            f"`assay measure -- {shlex.quote(kernel.kernel)}` measures one alone."
            if not names
            else "Name two.",
        )
    return chosen


def _spec(request: CaseRunRequest, kernel: Kernel, arms: tuple[Arm, ...]) -> StudySpec:
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
        budget=request.budget,
        arms=arms,
        seed=request.seed,
        disturbed_above=request.disturbed_above,
    )


def _measure(options: CommonOptions, spec: StudySpec) -> StudyResult:
    context = context_of(options)
    lab = laboratory_of(spec, context)
    with opened_store(context.db) as store, context.observer.listening(spec) as listener:
        return begin(lab, store, spec, listener)
