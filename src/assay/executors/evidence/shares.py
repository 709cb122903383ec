"""Shares: what a launch had of a partition, and whether that held while it ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.records import Evidence, RunFacts

if TYPE_CHECKING:
    from assay.launch.driver import Driver


def read_share(driver: Driver) -> dict[str, str]:
    """What the kernel says of the share that launches are in; nothing where they are in none.

    Raises:
        NotPossibleError: the share is not had any more.
    """
    demand_share(driver)
    return {} if driver.share is None else driver.share.look()


def demand_share(driver: Driver) -> None:
    """Refuse to go on where the share that launches are in is not had any more.

    Raises:
        NotPossibleError: it is not.
    """
    if driver.share is not None:
        driver.share.demand_reserved()


def share_evidence(
    driver: Driver, before: Mapping[str, str], facts: RunFacts
) -> tuple[Evidence, ...]:
    """What a launch had for itself, where that did not hold while it ran, and was not enough."""
    share = driver.share
    if share is None:
        return ()
    killed = share.spent(facts.oom_kills)
    return (share.evidence, *share.violations(before, share.look()), *killed)
