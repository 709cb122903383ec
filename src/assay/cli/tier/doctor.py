"""``assay tier doctor``: support for a tier by the kernel, the user's rights and the disks."""

from __future__ import annotations

import os
import sys

from assay.cli.arguments.common import common_options
from assay.cli.arguments.tier import doctor_request
from assay.cli.documents.tier import TierDoctorAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.records import to_builtins
from assay.tier.doctor import advisor_finding, findings, usable
from assay.tier.probe import PathProbe, Probe, probe
from assay.tier.swap import SwapUsage, read_swap
from assay.units import show_bytes, show_duration


def run(parsed: Parsed) -> int:
    """Print the capabilities; return 1 if the pager is not available.

    Raises:
        InvalidInputError: a directory of ``--path`` is missing.
        NotPossibleError: this installation lacks the programs of the tier.
    """
    request, options = doctor_request(parsed), common_options(parsed)
    found = probe(os.environ, request.path)
    swap = read_swap()
    can = usable(found)
    if options.json:
        answer = TierDoctorAnswer(
            usable=can,
            advisable=advisor_finding(found) is None,
            probe=found,
            swap=swap,
            findings=findings(found),
        )
        print_json(to_builtins(answer))
    else:
        print("\n".join(wrapped(_lines(found, swap), width_of(sys.stdout))))
    return 0 if can else 1


def _lines(found: Probe, swap: SwapUsage) -> list[str]:
    faults = found.userfaultfd
    in_kernel = "also" if faults.in_kernel else "not"
    handling = f"userfaultfd, {in_kernel} within system calls"
    lines = [
        f"page faults  {handling if faults.problem is None else 'userfaultfd not available'}",
        f"pages        {'moved, not copied' if faults.move else 'copied, not moved'}, "
        f"{'marked' if faults.poison else 'not marked'} if unreadable",
        f"transfers    io_uring{'' if found.io_uring.problem is None else ' not available'}",
        *(_path_line(one) for one in found.paths),
        f"swap         {_swap_words(swap, advisor_finding(found) is None)}",
    ]
    for one in findings(found):
        lines += [
            f"{'not available' if one.fatal else 'slower'}: {one.problem}",
            f"  {one.remedy}",
        ]
    if usable(found):
        paths = ",".join(one.path for one in found.paths) or "DIR"
        lines.append(f"usable: assay tier run --dram SIZE --path {paths} -- PROGRAM")
    elif (lack := advisor_finding(found)) is None:
        lines.append("advisor: assay tier run --how advisor --dram SIZE -- PROGRAM")
    else:
        lines += [f"advisor not available either: {lack.problem}", f"  {lack.remedy}"]
    return lines


def _swap_words(swap: SwapUsage, advisable: bool) -> str:
    if not swap.size_bytes:
        return "none"
    words = (
        f"{show_bytes(swap.size_bytes)}, {show_bytes(swap.used_bytes)} used, "
        f"{'accepting' if advisable else 'not accepting'} pages"
    )
    if swap.page_cluster is None:
        return words
    return f"{words}, {1 << swap.page_cluster} pages at once (vm.page-cluster)"


def _path_line(one: PathProbe) -> str:
    if one.read_bytes_per_s is None or one.write_bytes_per_s is None or one.latency_s is None:
        return f"path         {one.path}"
    free = "" if one.free_bytes is None else f", {show_bytes(one.free_bytes)} free"
    return (
        f"path         {one.path}: reads {show_bytes(one.read_bytes_per_s)}/s, "
        f"writes {show_bytes(one.write_bytes_per_s)}/s, "
        f"4 KiB in {show_duration(one.latency_s)}{free}"
    )
