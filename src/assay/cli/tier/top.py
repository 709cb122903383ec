"""``assay tier top``: memory traffic of running programs with a tier."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Mapping, Sequence

from assay.cli.arguments.common import common_options
from assay.cli.arguments.tier import top_request
from assay.cli.documents.tier import TierTopAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of
from assay.errors import NotPossibleError
from assay.records import to_builtins
from assay.tier.meter import Meter, Region, read_meters
from assay.units import show_bytes
from assay.untrusted import clean

_CLEAR = "\033[H\033[J"
Seen = Mapping[tuple[int, int], Region]
"""Regions by process and address."""


def run(parsed: Parsed) -> int:
    """Print the regions of all programs; on a terminal repeatedly.

    Raises:
        InvalidInputError: ``--every`` is not a valid time.
        NotPossibleError: no program runs with a tier.
    """
    request, options = top_request(parsed), common_options(parsed)
    interval_s = request.interval_s
    if options.json:
        print_json(to_builtins(TierTopAnswer(processes=tuple(_running_meters()))))
        return 0
    live = sys.stdout.isatty()
    before = _regions(_running_meters())
    for _ in itertools.count():
        time.sleep(interval_s)
        now = read_meters()
        text = "\n".join(_lines(now, before, interval_s, width_of(sys.stdout)))
        print(_CLEAR * live + text, flush=True)
        if not live or not now:
            return 0
        before = _regions(now)
    return 0


def _running_meters() -> list[Meter]:
    found = read_meters()
    if not found:
        raise NotPossibleError(
            "You have no running program with a tier.",
            "Start one with `assay tier run`, or run this command as its user.",
        )
    return found


def _regions(found: Sequence[Meter]) -> Seen:
    return {(one.pid, region.address): region for one in found for region in one.regions}


HEADS = ("region", "size", "in DRAM", "waits", "stall", "ahead", "wasted", "reads", "writes")


def _lines(found: Sequence[Meter], before: Seen, interval_s: float, width: int | None) -> list[str]:
    lines = []
    for one in found:
        held = sum(region.resident_bytes for region in one.regions)
        lines.append(
            f"{one.pid}  {show_bytes(held)} of {show_bytes(one.dram_bytes)} DRAM  "
            f"{'advised  ' if one.mechanism == 'advisor' else ''}{clean(one.command)}"
        )
        rows = [HEADS] + [
            _row(
                region,
                before.get((one.pid, region.address)),
                interval_s,
                waits=one.mechanism == "pager",
            )
            for region in one.regions
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        gap = "  " if width is None or sum(widths) + 2 * len(widths) <= width else " "
        lines += [gap + gap.join(map(str.rjust, row, widths)) for row in rows]
    return [line[:width] for line in lines] or ["no program with a tier is running"]


def _share(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"


def _row(now: Region, before: Region | None, interval_s: float, *, waits: bool) -> tuple[str, ...]:
    """Return the row of a region, for the last interval; of a new region, since its start.

    Args:
        now: current counters.
        before: counters at the beginning of the interval; ``None`` for a new region.
        interval_s: length of the interval, in seconds.
        waits: the counters of waits are known.
    """
    # Counters only grow: smaller ones are those of a new region at the same address.
    if before is not None and before.zero_fill_faults > now.zero_fill_faults:
        before = None

    def more(name: str) -> float:
        return float(getattr(now, name)) - (float(getattr(before, name)) if before else 0.0)

    return (
        f"{now.address:x}",
        show_bytes(now.size_bytes),
        _share(now.resident_bytes / now.size_bytes),
        f"{more('demand_faults') + more('in_flight_faults'):.0f}" if waits else "-",
        _share(more("stall_s") / interval_s) if waits else "-",
        f"{more('prefetch_hits'):.0f}",
        f"{more('unused_prefetches'):.0f}",
        f"{show_bytes(more('read_bytes') / interval_s)}/s",
        f"{show_bytes(more('written_bytes') / interval_s)}/s",
    )
