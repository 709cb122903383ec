"""Share of a partition during launches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from assay.api.observer import Observer
from assay.records import Reservation
from assay.study.laboratory import Laboratory


@contextmanager
def in_share(
    lab: Laboratory,
    reservation: Reservation | None,
    observer: Observer,
    *,
    seed: int = 0,
    take: bool = True,
) -> Iterator[Laboratory]:
    """Context of the laboratory whose launches run in a share; releases the share at the end.

    Args:
        lab: laboratory without the share.
        reservation: requested share; ``None`` for none.
        observer: receiver of its description.
        seed: seed of the algorithm ``random``.
        take: reserve the share; otherwise it is only computed.

    Raises:
        InvalidInputError: an invalid specification, or a share larger than the partition.
        NotPossibleError: no partition exists, or its resources are in use.
    """
    if reservation is None:
        yield lab
        return
    from assay.partition.share import open_share
    from assay.partition.share_request import parse_share_request

    share_request = parse_share_request(reservation.specification, os.environ)
    name = reservation.partition or None
    with open_share(share_request, name, lab.machine, os.environ, seed=seed, take=take) as share:
        if take:
            observer.share_reserved(str(share))
            for evidence in share.violations(share.read_files()):
                observer.noted(f"the partition is not in force: {evidence.note}")
        yield lab.within(share)


def share_lines(lab: Laboratory) -> list[str]:
    """Return the lines on the share of a launch, before its plan; empty without a share."""
    if lab.share is None:
        return []
    lines = [f"share of {lab.share}, as it is free now"]
    lines += [f"  {name}={value}" for name, value in sorted(lab.share.variables.items())]
    lines += [
        "  the script below uses these CPUs without reserving them: other runs may use them too"
    ]
    return [*lines, ""]
