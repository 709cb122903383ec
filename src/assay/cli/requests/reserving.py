"""``--reserve`` and ``--partition``: a share of a partition, held while launches are made."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import InvalidInputError
from assay.records import Reservation
from assay.study.laboratory import Laboratory
from assay.untrusted import clean

ALL = "all"
"""The wish of a search on a partition, unless another is said."""


def reservation_of(arguments: argparse.Namespace) -> Reservation | None:
    """What was asked for; ``None`` where nothing was.

    Raises:
        InvalidInputError: a partition is named, and nothing of it; or two are.
    """
    searched_on = getattr(arguments, "search_on", None)
    if searched_on is not None and arguments.partition is not None:
        raise InvalidInputError(
            "--search-on and --partition both name a partition.", "Leave --partition out."
        )
    if searched_on is not None:
        return Reservation(wish=arguments.reserve or ALL, partition=searched_on)
    if arguments.reserve is None:
        if arguments.partition is not None:
            raise InvalidInputError(
                "--partition says which partition, and nothing of it is asked for.",
                f"Say what, as in: --reserve cpus=2 --partition {arguments.partition}",
            )
        return None
    return Reservation(wish=arguments.reserve, partition=arguments.partition or "")


@contextmanager
def in_share(
    lab: Laboratory,
    asked: Reservation | None,
    *,
    seed: int = 0,
    take: bool = True,
    quiet: bool = False,
) -> Iterator[Laboratory]:
    """The laboratory with its launches in the share that was asked for; it is given back then.

    Args:
        lab: as it is without.
        asked: ``None``: nothing, and it stays as it is.
        seed: of the algorithm ``random``.
        take: whether to have it; otherwise the laboratory is what it would be.
        quiet: what was had is not told.

    Raises:
        InvalidInputError: the wish cannot be read, or the partition does not have so much.
        NotPossibleError: there is no partition, or others have too much of it.
    """
    if asked is None:
        yield lab
        return
    from assay.partition.share import open_share
    from assay.partition.share_request import parse_share_request

    wish = parse_share_request(asked.wish, os.environ)
    name = asked.partition or None
    with open_share(wish, name, lab.machine, os.environ, seed=seed, take=take) as share:
        if take:
            tell(f"reserved of {share}", quiet=quiet)
            for evidence in share.violations(share.look()):
                tell(f"the partition does not hold: {evidence.note}", quiet=False)
        yield lab.within(share)


def in_share_words(lab: Laboratory) -> list[str]:
    """Where a launch would run, in lines before its plan; none where no share was asked for."""
    if lab.share is None:
        return []
    lines = [f"share of {lab.share}, as it is free now"]
    lines += [f"  {name}={value}" for name, value in sorted(lab.share.variables.items())]
    lines += ["  the script below takes its CPUs without reserving them: others may have them too"]
    return [*lines, ""]


def tell(text: str, *, quiet: bool) -> None:
    """One line on standard error."""
    if not quiet:
        print(f"assay: {clean(text)}", file=sys.stderr, flush=True)
