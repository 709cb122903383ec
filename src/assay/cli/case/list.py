"""``assay case list``: all cases."""

from __future__ import annotations

import os
import sys

from assay.cli.arguments.common import common_options
from assay.cli.documents.case import CaseLine, CaseListAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.records import to_builtins
from assay.units import show_count
from assay.workloads.kernels import Kernel, describe, find_kernels


def run(parsed: Parsed) -> int:
    """List all cases."""
    kernels = [describe(program) for program in find_kernels(os.environ).values()]
    if common_options(parsed).json:
        print_json(to_builtins(CaseListAnswer(cases=tuple(map(_line, kernels)))))
        return 0
    width = max((len(kernel.kernel) for kernel in kernels), default=0)
    lines = []
    for kernel in kernels:
        there = sum(not one.incorrect for one in kernel.variants)
        lines.append(
            f"{kernel.kernel:<{width}}  {kernel.title} "
            f"({show_count(len(kernel.available), 'variant')}"
            + (f" of {there})" if there > len(kernel.available) else ")")
        )
    print("\n".join(wrapped(lines, width_of(sys.stdout))))
    return 0


def _line(kernel: Kernel) -> CaseLine:
    return CaseLine(
        name=kernel.kernel,
        title=kernel.title,
        variants=tuple(one.variant for one in kernel.variants if not one.incorrect),
    )
