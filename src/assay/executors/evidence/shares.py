"""Evidence of the share of a partition that a launch had, and of its violations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.records import Evidence, RunFacts

if TYPE_CHECKING:
    from assay.launch.driver import Driver


def read_share(driver: Driver) -> dict[str, str]:
    """Return the control-group files of the share; empty without a share.

    Raises:
        NotPossibleError: the share was lost.
    """
    demand_share(driver)
    return {} if driver.share is None else driver.share.read_files()


def demand_share(driver: Driver) -> None:
    """Check that the share of the launches still exists.

    Raises:
        NotPossibleError: the share was lost.
    """
    if driver.share is not None:
        driver.share.demand_reserved()


def share_evidence(
    driver: Driver, before: Mapping[str, str], facts: RunFacts
) -> tuple[Evidence, ...]:
    """Return evidence of the share, of its violations, and of a lack of memory."""
    share = driver.share
    if share is None:
        return ()
    killed = share.memory_evidence(facts.oom_kills)
    return (share.evidence, *share.violations(before, share.read_files()), *killed)
