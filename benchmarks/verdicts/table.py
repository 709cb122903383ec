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
            part(shapes.shape, n, few, max(blocks, shapes.FLAGGED_BLOCKS), seed)
            for n in shapes.SHAPES
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
    yield "### Identical arms"
    yield ""
    yield (
        f"Each row has {sizes.studies:,} studies of two identical arms, with an interim analysis "
        f"after every block up to {sizes.blocks}. The limit of false verdicts is 5 % plus two "
        f"standard errors, {100 * limit(sizes.studies):.2f} %; **bold** values are beyond it."
    )
    yield ""
    yield "| column | meaning |"
    yield "| --- | --- |"
    yield "| false | studies in which assay reports *faster* or *slower* |"
    yield "| right throughout | studies in which the interval never misses the true ratio |"
    yield "| blocks | median number of blocks at the end |"
    yield "| columns to the right | studies in which other rules find a difference |"
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
    head = ["noise", "assay: false", "right throughout", "blocks", *RULES]
    yield from _table(head, lines)
    yield ""
    yield "The other rules use the same streams, each in its own order of launches:"
    yield ""
    runs = f"{HYPERFINE_RUNS} runs of A, then of B; judged by"
    rules = [
        ["pyperf", "20 processes of 3 values, A before B"],
        ["hyperfine, Welch", f"{runs} its Welch script"],
        ["hyperfine, \u00b1 sd", f"{runs} the interval that it prints"],
        [
            "temci",
            f"rounds in random order, {TEMCI_RUNS[0]} to {TEMCI_RUNS[1]}, until p is not between "
            "0.05 and 0.15",
        ],
        [
            "t test, repeated",
            f"a t test after every round from {PEEKS[0]} to {PEEKS[1]}, until p < 0.05",
        ],
        ["paired t, once", f"one paired t test of {PAIRS} pairs"],
    ]
    yield "| rule | launches and decision |"
    yield "| --- | --- |"
    yield from (f"| {' | '.join(cells)} |" for cells in rules)
    yield ""
    yield (
        f"If one process of pyperf is lost (57 values against 60), pyperf reports {unequal} of "
        "identical arms as different. Its test raises an exception for unequal numbers, and pyperf "
        "takes that for significant."
    )


def _marked(row: Row) -> tuple[str, str]:
    """False verdicts and coverage; bold where beyond the limit."""
    at_most = limit(row.false.of)
    right = Share(row.missed.of - row.missed.count, row.missed.of)
    pairs = ((row.false, str(row.false)), (row.missed, str(right)))
    false, held = (f"**{text}**" if s.value > at_most else text for s, text in pairs)
    return false, held


def _shapes(rows: list[shapes.Shape], sizes: Sizes) -> Iterator[str]:
    yield "### Equal mean, unequal shape"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} studies. The mean of the logarithm is the same in both "
        "arms. *Flagged*: assay calls the claim *unstable*."
    )
    yield ""
    head = [
        "A; B",
        "*faster* or *slower*",
        "after blocks",
        "of these flagged at once",
        f"of these flagged after {shapes.FLAGGED_BLOCKS} blocks",
        f"of all flagged after {shapes.FLAGGED_BLOCKS} blocks",
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
    yield "### Spread"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} studies (limit {100 * limit(sizes.fewer):.2f} %). *Blocks*: "
        "median number of blocks until *tighter* or *wider*."
    )
    yield ""
    head = ["noise of both arms", "*tighter* or *wider*", "right throughout", "*same*", "blocks"]
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
    yield "### False modes"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} arms with one peak, and shows how often assay finds two "
        "modes."
    )
    yield ""
    seen = [f"at {n} launches" for n in spreads.LAUNCHES_SEEN]
    last = spreads.LAUNCHES_SEEN[-1]
    head = ["noise", *seen, f"at some interim analysis (every {spreads.EVERY} to {last})"]
    lines = [[r.name, *map(str, r.found.values()), str(r.ever)] for r in rows]
    yield from _table(head, lines)


def _disturbed(
    rows: list[disturbed.Disturbed], followed: list[disturbed.Followed], sizes: Sizes
) -> Iterator[str]:
    yield "### Disturbed blocks"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} studies of identical arms with 1 % Gaussian noise (limit "
        f"{100 * limit(sizes.fewer):.2f} %), on a host of {disturbed.CPUS} CPUs. A load that uses "
        "a share of the CPUs makes a launch slower by that share."
    )
    yield ""
    gain = f"{100 * disturbed.GAIN:g} %"
    yield "| column | meaning |"
    yield "| --- | --- |"
    yield "| follows | assay reported a load that follows the arms, at some interim analysis |"
    yield f"| a gain of {gain} | studies with that gain that end with *faster* |"
    yield "| after blocks | blocks until then (median) |"
    yield "| all blocks alike | the same streams, if no block counted as disturbed |"
    yield ""
    head = [
        "load",
        "blocks disturbed",
        "false",
        "right throughout",
        "blocks",
        "follows",
        f"a gain of {gain}",
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
    yield "### A load that follows the arms"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} studies of identical arms, with up to "
        f"{disturbed.FOLLOWED_BLOCKS} blocks and a load during the launches of the second arm "
        "only. *Without the test*: *faster* or *slower* with `--disturbed-above never`."
    )
    yield ""
    head = [
        "share of the CPUs",
        "found",
        "after blocks",
        "*faster* or *slower*",
        "without the test",
    ]
    told = [
        [f"{100 * r.share:g} %", str(r.found), _count(r.blocks), str(r.told), str(r.unruled)]
        for r in followed
    ]
    yield from _table(head, told)


def _power(rows: list[power.Cost], sizes: Sizes) -> Iterator[str]:
    yield f"### A true gain of {100 * power.GAIN:g} %"
    yield ""
    yield (
        f"Each row has {sizes.fewer:,} studies. *Fixed size*: blocks of a paired t test of "
        f"{100 * power.POWER:g} % power, with a single analysis. No interval of assay excludes any "
        f"value before {MIN_CLAIM_VALUES} blocks."
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
