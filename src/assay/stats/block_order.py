"""Launch order within a block, balanced so that position and drift affect all arms equally.

Each order comes with its mirror image, and two such pairs make a group of four blocks, in which
the four are shuffled: of any two arms each goes first in two blocks of the four, and within a pair
every arm has the same position on average (a counterbalanced design: Winer 1962, Statistical
Principles in Experimental Design). If the second launch of a block is always slower, free
shuffling makes the same arm the second one in all of the first six blocks of one study in 32; this
design never does. Within a group only the last block is predictable.

Where arms differ in hard-to-change settings (whole plots of a split-plot design: Box,
Hunter and Hunter 2005, Statistics for Experimenters, ch. 9), arms that share these values run one
after another. Then the whole plots are shuffled and mirrored, and so are the arms within each.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Flags = npt.NDArray[np.bool_]
    Integers = npt.NDArray[np.int64]

BLOCKS_PER_GROUP = 4
"""Blocks that are balanced together."""
_TURNS = tuple(
    (pair, mirrored) for pair in range(BLOCKS_PER_GROUP // 2) for mirrored in (False, True)
)
_SIDES = tuple(
    sides
    for sides in itertools.product((False, True), repeat=BLOCKS_PER_GROUP)
    if sum(sides) * 2 == BLOCKS_PER_GROUP
)


Plot = tuple[str, ...]
"""Values of the hard-to-change settings, as text, the costliest first."""


def launch_order(
    seed: int, block: int, names: Sequence[str], plots: Sequence[Plot] | None = None
) -> list[int]:
    """Return the order of the launches of a block.

    The order is a function of the arguments. The relative order of two arms does not depend on
    other arms, so it stays balanced while these are eliminated.

    Args:
        seed: seed of the study.
        block: block number, from 0.
        names: names of the arms; an arm that runs n times in a block occurs n times.
        plots: plot of each arm, all of the same length. Arms with the same plot, or with a common
            prefix, stay adjacent: the costliest setting changes least often.

    Returns:
        Indices into ``names``.
    """
    group, place = divmod(block, BLOCKS_PER_GROUP)
    turns = list(_TURNS)
    random.Random(f"{seed}/{group}").shuffle(turns)
    pair, mirrored = turns[place]
    seen: dict[str, int] = {}
    keys = []
    for at, name in enumerate(names):
        seen[name] = seen.get(name, -1) + 1
        plot = plots[at] if plots else ()
        above = [f"{seed}/{group}/{pair}/{plot[: depth + 1]!r}" for depth in range(len(plot))]
        texts = [*above, f"{seed}/{group}/{pair}/{seen[name]}/{name}"]
        keys.append([hashlib.sha256(_bytes(text)).digest() for text in texts])
    return sorted(range(len(names)), key=keys.__getitem__, reverse=mirrored)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")  # an arm's name may hold any byte


def swapped_blocks(draws: Integers, blocks: int) -> Flags:
    """Return the blocks in which the second of two arms runs first.

    Args:
        draws: studies x groups, integers, uniformly distributed over a range much larger than six.
        blocks: number of blocks of each study, at most four for each group.

    Returns:
        Flags, studies x blocks.
    """
    import numpy as np

    sides = np.array(_SIDES, dtype=np.bool_)[draws % len(_SIDES)]
    flat: Flags = sides.reshape(len(draws), -1)[:, :blocks]
    return flat
