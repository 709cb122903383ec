"""Table: all rows, worked out on several processors, as Markdown."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.stats.confidence_sequence import MIN_CLAIM_VALUES

from . import disturbed, identical, power, shapes, spreads
from .noise import NOISES
from .peers import HYPERFINE_RUNS, PAIRS, PEEKS, RULES, TEMCI_RUNS
from .tally import DASH, Row, Share, limit

Task = Callable[[], Any]


@dataclass(frozen=True)
class Sizes:
    """Size of the simulation.

    Attributes:
        studies: studies per row of identical arms.
        fewer: studies per row of the other tables.
        blocks: blocks of a study.
    """

    studies: int = 10_000
    fewer: int = 2_500
    blocks: int = 200


QUICK = Sizes(studies=100, fewer=50, blocks=40)


def document(sizes: Sizes, seed: int, files: Sequence[Path], jobs: int) -> str:
    """All tables."""
    parts = _tasks(sizes, seed, files)
    flat = [task for tasks in parts.values() for task in tasks]
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            done = [future.result() for future in [pool.submit(task) for task in flat]]
    else:
        done = [task() for task in flat]
    found = iter(done)
    rows = {name: [next(found) for _ in tasks] for name, tasks in parts.items()}
    tables = (
        _identical(rows["identical"], rows["medians"][0], rows["unequal"][0], sizes),
        _shapes(rows["shapes"], sizes),
        _spreads(rows["spreads"], sizes),
        _modes(rows["modes"], sizes),
        _disturbed(rows["disturbed"], rows["followed"], sizes),
        _power(rows["power"], sizes),
    )
    return "\n\n".join("\n".join(lines) for lines in tables)


def _tasks(sizes: Sizes, seed: int, files: Sequence[Path]) -> dict[str, list[Task]]:
    """One task a row, by table."""
    few, blocks = sizes.fewer, sizes.blocks
    part = functools.partial
    return {
        "identical": [
            *(part(identical.simulated, n, sizes.studies, blocks, seed) for n in NOISES),
            *(
                part(identical.recorded, path, sizes.studies, blocks, seed, whole=whole)
                for path in files
                for whole in (True, False)
            ),
        ],
        "medians": [part(identical.medians, sizes.studies, blocks, seed)],
        "unequal": [part(identical.unequal_numbers, sizes.studies, seed)],
        "shapes": [
            part(shapes.shape, n, few, max(blocks, shapes.LOOK), seed) for n in shapes.SHAPES
        ],
        "spreads": [
            *(part(spreads.equal, n, few, blocks, seed) for n in spreads.EQUAL),
            *(part(spreads.wider, f, few, blocks, seed) for f in spreads.WIDER),
        ],
        "modes": [part(spreads.one_peak, n, few, seed) for n in spreads.ONE_PEAK],
        "disturbed": [part(disturbed.disturbed, n, few, blocks, seed) for n in disturbed.OTHERS],
        "followed": [part(disturbed.followed, share, few, seed) for share in disturbed.FOLLOWING],
        "power": [part(power.cost, n, few, seed) for n in power.NOISES],
    }


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---", *["---:"] * (len(head) - 1)], *lines):
        yield f"| {' | '.join(cells)} |"


def _identical(
    rows: list[identical.Compared], medians: Share, unequal: Share, sizes: Sizes
) -> Iterator[str]:
    yield (
        f"**Identical arms**, {sizes.studies:,} studies a row, looked at after every block up to "
        f"{sizes.blocks}. *False*: assay says *faster* or *slower*. *Right at every look*: its "
        "interval never misses. Limit: 5 % and two standard errors, "
        f"{100 * limit(sizes.studies):.2f} %; **bold** is beyond it."
    )
    yield ""
    lines = [
        [
            found.row.name,
            *_marked(found.row),
            f"{found.row.blocks:.0f}",
            *(str(found.others[rule]) if rule in found.others else DASH for rule in RULES),
        ]
        for found in rows
    ]
    missed = Share(medians.of - medians.count, medians.of)
    bold = "**" if medians.value > limit(medians.of) else ""
    dashes = [DASH] * (1 + len(RULES))
    lines.append(
        ["median, t2, 3/10 of the values censored", DASH, f"{bold}{missed}{bold}", *dashes]
    )
    head = ["noise", "assay: false", "right at every look", "blocks", *RULES]
    yield from _table(head, lines)
    yield ""
    yield (
        "Others, on the same streams and in their own order of launching: pyperf 20 processes of 3 "
        f"values, A before B; hyperfine {HYPERFINE_RUNS} runs of A, then of B, judged by its Welch "
        "script and by the interval that it prints; temci's rounds in random order, "
        f"{TEMCI_RUNS[0]} to {TEMCI_RUNS[1]}, until p leaves 0.05 to 0.15; a t test after every "
        f"round from {PEEKS[0]} to {PEEKS[1]} until p < 0.05; one paired t test of {PAIRS} pairs. "
        f"Where one of pyperf's processes is lost (57 values against 60) it calls {unequal} of "
        "identical arms different: its test raises for unequal numbers, and that is taken for "
        "significant."
    )


def _marked(row: Row) -> tuple[str, str]:
    """False verdicts and coverage; bold where beyond the limit."""
    at_most = limit(row.false.of)
    right = Share(row.missed.of - row.missed.count, row.missed.of)
    pairs = ((row.false, str(row.false)), (row.missed, str(right)))
    false, held = (f"**{text}**" if s.value > at_most else text for s, text in pairs)
    return false, held


def _shapes(rows: list[shapes.Shape], sizes: Sizes) -> Iterator[str]:
    yield (
        f"**Equal mean, unequal shape**, {sizes.fewer:,} studies a row. The mean of the logarithm "
        "is the same in both arms. *Flagged*: the claim is called *unstable*."
    )
    yield ""
    head = [
        "A; B",
        "*faster* or *slower*",
        "after blocks",
        "of these flagged at once",
        f"of these flagged after {shapes.LOOK} blocks",
        f"of all flagged after {shapes.LOOK} blocks",
    ]
    lines = [
        [
            r.name,
            str(r.differs),
            _count(r.blocks),
            str(r.flagged),
            str(r.flagged_later),
            str(r.flagged_all),
        ]
        for r in rows
    ]
    yield from _table(head, lines)


def _spreads(rows: list[spreads.SpreadRow], sizes: Sizes) -> Iterator[str]:
    yield (
        f"**Spread**, {sizes.fewer:,} studies a row (limit {100 * limit(sizes.fewer):.2f} %). "
        "*Blocks*: median of those after which *tighter* or *wider* was said."
    )
    yield ""
    head = ["noise of both arms", "*tighter* or *wider*", "right at every look", "*same*", "blocks"]
    at_most = limit(sizes.fewer)
    lines = []
    for row in rows:
        right = str(Share(row.missed.of - row.missed.count, row.missed.of))
        bold = "**" if row.missed.value > at_most else ""
        lines.append(
            [row.name, str(row.told), f"{bold}{right}{bold}", str(row.same), _count(row.blocks)]
        )
    yield from _table(head, lines)


def _modes(rows: list[spreads.ModesRow], sizes: Sizes) -> Iterator[str]:
    yield f"**Modes seen where there is one peak**, {sizes.fewer:,} arms a row."
    yield ""
    seen = [f"at {n} launches" for n in spreads.LAUNCHES_SEEN]
    last = spreads.LAUNCHES_SEEN[-1]
    head = ["noise", *seen, f"at some look (every {spreads.EVERY} to {last})"]
    lines = [[r.name, *map(str, r.found.values()), str(r.ever)] for r in rows]
    yield from _table(head, lines)


def _disturbed(
    rows: list[disturbed.Disturbed], followed: list[disturbed.Followed], sizes: Sizes
) -> Iterator[str]:
    yield (
        "**Disturbed blocks** (rule 13), identical arms with 1 % Gaussian noise, "
        f"{sizes.fewer:,} studies a row (limit {100 * limit(sizes.fewer):.2f} %), on a host of "
        f"{disturbed.CPUS} CPUs. A load that takes a share of the CPUs makes a launch slower by "
        "that share. *Follows*: it was taken for one that follows the arms at some look. *A gain "
        f"of {100 * disturbed.GAIN:g} %*: the same streams with that gain; how many end with "
        "*faster*, and after how many blocks. *All blocks alike*: the same streams if no block "
        "counted as disturbed."
    )
    yield ""
    head = [
        "load",
        "blocks disturbed",
        "false",
        "right at every look",
        "blocks",
        "follows",
        f"a gain of {100 * disturbed.GAIN:g} %",
        "after blocks",
        "all blocks alike: false",
        "blocks",
    ]
    lines = [
        [
            row.ruled.name,
            str(row.disturbed),
            *_marked(row.ruled),
            f"{row.ruled.blocks:.0f}",
            str(row.following),
            str(row.gain),
            _count(row.gain_blocks),
            _marked(row.unruled)[0],
            f"{row.unruled.blocks:.0f}",
        ]
        for row in rows
    ]
    yield from _table(head, lines)
    yield ""
    yield (
        "**A load that follows the arms**: identical arms, and a load during the launches of the "
        f"second alone; {sizes.fewer:,} studies a row, up to {disturbed.FOLLOWED_BLOCKS} blocks. "
        "*Unasked*: the same without a look at the load (`--disturbed-above never`)."
    )
    yield ""
    head = ["share of the CPUs", "found", "after blocks", "*faster* or *slower*", "unasked"]
    told = [
        [f"{100 * r.share:g} %", str(r.found), _count(r.blocks), str(r.told), str(r.unruled)]
        for r in followed
    ]
    yield from _table(head, told)


def _power(rows: list[power.Cost], sizes: Sizes) -> Iterator[str]:
    yield (
        f"**A true gain of {100 * power.GAIN:g} %**, {sizes.fewer:,} studies a row. *Fixed size*: "
        f"blocks of a paired t test of {100 * power.POWER:g} % power, looked at once. No interval "
        f"of assay excludes anything before {MIN_CLAIM_VALUES} blocks."
    )
    yield ""
    head = [
        "noise",
        "fixed size",
        "assay, blocks on average",
        "times the fixed size",
        f"decided within {power.ALLOWED:g} times",
        "*same* or *slower*",
    ]
    lines = [
        [
            row.name,
            DASH if row.fixed is None else str(row.fixed),
            f"{row.mean:.1f}",
            DASH if row.fixed is None else f"{row.mean / row.fixed:.2f}",
            DASH if row.within is None else str(row.within),
            str(row.wrong),
        ]
        for row in rows
    ]
    yield from _table(head, lines)


def _count(number: float) -> str:
    return DASH if math.isnan(number) else f"{number:.0f}"
