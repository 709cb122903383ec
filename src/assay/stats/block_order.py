"""Order: who runs when within a block, so that place and drift fall on all arms alike.

Each order comes with its mirror image, and two such pairs make a group of four blocks, in which
the four are shuffled: of any two arms each goes first in two blocks of the four, and within a pair
every arm has the same place on average (a counterbalanced design: Winer 1962, Statistical
Principles in Experimental Design). Where the second launch of a block is always slower, free
shuffling leaves that on one side of the first six blocks once in 32 studies; this leaves it never.
Within a group nothing can be foretold but its last block.

Where arms differ in settings that are costly to change (whole plots of a split-plot design: Box,
Hunter and Hunter 2005, Statistics for Experimenters, ch. 9), those that share their values run one
after another. Then it is the whole plots that are shuffled and mirrored, and the arms within each.
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
"""Values of the settings that are costly to change, as text, the costliest first."""


def launch_order(
    seed: int, block: int, names: Sequence[str], plots: Sequence[Plot] | None = None
) -> list[int]:
    """In which order the launches of a block are made.

    It follows from its arguments alone, and of any two arms it depends on these two only, so that
    it stays balanced while others leave the race.

    Args:
        seed: of the study.
        block: its number, from 0.
        names: of the arms; one that runs several times in a block is there so many times.
        plots: of the arms, all equally long. Arms with the same plot are not torn apart, nor are
            those whose plots begin alike: what costs most to change is changed least often.

    Returns:
        Places in ``names``.
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
    """In which blocks the second of two arms goes first.

    Args:
        draws: studies x groups, any whole numbers evenly spread over many times six.
        blocks: of each study, at most four for each group.

    Returns:
        Studies x blocks.
    """
    import numpy as np

    sides = np.array(_SIDES, dtype=np.bool_)[draws % len(_SIDES)]
    flat: Flags = sides.reshape(len(draws), -1)[:, :blocks]
    return flat
