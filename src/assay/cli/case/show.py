"""``assay case show``: one case, its parameters and its variants."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from msgspec.structs import asdict

from assay.cli.arguments.case import show_request
from assay.cli.arguments.common import common_options
from assay.cli.case.kernel_words import data_words, thread_words
from assay.cli.documents.case import CaseShowAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.records import to_builtins
from assay.units import show_bytes
from assay.workloads.kernels import Kernel, Variant, describe, find_kernel
from assay.workloads.published import published_figures


def run(parsed: Parsed) -> int:
    """Show the case.

    Raises:
        InvalidInputError: unknown case, or invalid data.
        NotPossibleError: its program does not run here.
    """
    request, options = show_request(parsed), common_options(parsed)
    program = find_kernel(request.name, os.environ)
    kernel = describe(program, (*data_words(request), *thread_words(request, os.environ)))
    if options.json:
        figures = published_figures(kernel.kernel)
        answer = CaseShowAnswer(program=str(program), published=figures, **asdict(kernel))
        print_json(to_builtins(answer))
    else:
        print("\n".join(wrapped(_lines(kernel), width_of(sys.stdout))))
    return 0


def _lines(kernel: Kernel) -> Iterator[str]:
    yield f"{kernel.kernel}: {kernel.title}"
    yield f"  source: {kernel.source}"
    for figure in published_figures(kernel.kernel):
        yield f"  published: {figure}"
    yield f"  limited by: {kernel.bound}"
    yield "  parameters:"
    for one in kernel.options:
        yield f"    {one.name}={kernel.parameters[one.name]}  {one.description}"
    yield f"  data: {show_bytes(int(kernel.bytes))}"
    for quality in kernel.figures:
        yield f"  also measured: {quality.name}, {quality.description}"
    yield "  variants, each a step from its parent:"
    yield from _steps(kernel, "", 2)


def _steps(kernel: Kernel, parent: str, depth: int) -> Iterator[str]:
    for one in kernel.variants:
        if one.parent == parent and not one.incorrect:
            yield f"{'  ' * depth}{one.variant}{_availability(one)}: {one.description}"
            yield from _steps(kernel, one.variant, depth + 1)


def _availability(one: Variant) -> str:
    if one.unavailable is not None:
        return f" (not available: {one.unavailable})"
    return f" ({one.library})" if one.library else ""
