"""``assay case show``: one case, its variants, and why each is there."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from assay.cli.case.asked import data_words, thread_words
from assay.cli.show.documents import print_json
from assay.cli.show.layout import fitted, width_of
from assay.records import to_builtins
from assay.units import show_bytes
from assay.workloads.kernels import Kernel, Variant, described, find_kernel
from assay.workloads.published import published


def run(arguments: argparse.Namespace) -> int:
    """Tell of it.

    Raises:
        InvalidInputError: no such case, or no such data.
        NotPossibleError: it cannot be run.
    """
    program = find_kernel(arguments.name, os.environ)
    kernel = described(program, (*data_words(arguments), *thread_words(arguments, os.environ)))
    if arguments.json:
        told = to_builtins(published(kernel.kernel))
        print_json({"program": str(program), **to_builtins(kernel), "published": told})
    else:
        print("\n".join(fitted(_lines(kernel), width_of(sys.stdout))))
    return 0


def _lines(kernel: Kernel) -> Iterator[str]:
    yield f"{kernel.kernel}: {kernel.title}"
    yield f"  from: {kernel.source}"
    for figure in published(kernel.kernel):
        yield f"  published: {figure}"
    yield f"  limited by: {kernel.bound}"
    yield "  parameters:"
    for one in kernel.options:
        yield f"    {one.name}={kernel.parameters[one.name]}  {one.what}"
    yield f"  data: {show_bytes(int(kernel.bytes))}"
    for told in kernel.figures:
        yield f"  beside the time: {told.name}, {told.what}"
    yield "  variants, each a step from another:"
    yield from _steps(kernel, "", 2)


def _steps(kernel: Kernel, parent: str, depth: int) -> Iterator[str]:
    for one in kernel.variants:
        if one.parent == parent and not one.broken:
            yield f"{'  ' * depth}{one.variant}{_of(one)}: {one.why}"
            yield from _steps(kernel, one.variant, depth + 1)


def _of(one: Variant) -> str:
    if one.missing is not None:
        return f" (not here: {one.missing})"
    return f" ({one.library})" if one.library else ""
