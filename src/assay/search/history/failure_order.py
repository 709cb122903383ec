"""Failure order: failures that depend on the order of launches and not on the arm.

A server that binds a port still in use, or a program that finds a lock or a file of the launch
before it, works in one launch and fails in the next. The arm is not the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assay.records import Outcome, Sample
from assay.search.history.packed_samples import Figures, figures_of, select, succeeded
from assay.wording.launch_notes import (
    EVERY_SECOND_FAILED,
    arm_failed_since_first,
    arms_failed_since_first,
    failed_since_first,
    order_note,
    possible_clean_up,
)

MIN_FAILED = 2
"""Minimum number of failing positions; repeated failures of a position count once."""
MIN_OF_ARM = 3
"""Minimum number of failing positions of one arm that worked, if other arms always work."""
MIN_SHARE = 0.25
"""Minimum number of these positions, as a share of the launches that worked before."""
MIN_PAIRS = 4
"""Minimum number of failures that alternate with successful launches."""
MAX_NAMED_ARMS = 3
"""Maximum number of arms named in a note."""


def describe_failure_order(samples: Sequence[Sample]) -> str | None:
    """Describe how failures depend on the order of launches; ``None`` if they do not.

    Without a common order, the text names an arm that worked first and fails since then.

    Args:
        samples: samples of one stratum.
    """
    if len(succeeded(samples)) == len(samples):
        return None
    built = figures_of(select(samples, lambda shape: not shape.build_failed))
    counted = sorted(built, key=lambda s: s.started_at)
    return _order_of_all(counted) or _order_of_arms(counted)


def _order_of_all(counted: Sequence[Figures]) -> str | None:
    works = [sample.outcome.succeeded for sample in counted]
    failed = works.count(False)
    if any(not (s.outcome.succeeded or s.outcome is Outcome.FAILED) for s in counted):
        return None  # limits and time-outs have separate reasons
    worked = {sample.launch.arm for sample in counted if sample.outcome.succeeded}
    if not any(s.launch.arm in worked for s in counted if not s.outcome.succeeded):
        return None  # arms that never worked may be faulty themselves
    first = works.index(False)
    places = sum(not s.outcome.succeeded and s.launch.attempt == 0 for s in counted)
    many = places >= max(MIN_FAILED, MIN_SHARE * first)
    if many and first and not any(works[first:]):
        return failed_since_first(first, failed)
    if failed >= MIN_PAIRS and works[0] and _alternates(works):
        return EVERY_SECOND_FAILED
    return None


def _order_of_arms(counted: Sequence[Figures]) -> str | None:
    arms: dict[str, list[Figures]] = {}
    for sample in counted:
        arms.setdefault(sample.launch.arm, []).append(sample)
    orders = [_order_of_arm(name, mine) for name, mine in arms.items()]
    found = [text for text in orders if text is not None][:MAX_NAMED_ARMS]
    return arms_failed_since_first(found) if found else None


def _order_of_arm(name: str, samples: Sequence[Figures]) -> str | None:
    if any(not (s.outcome.succeeded or s.outcome is Outcome.FAILED) for s in samples):
        return None
    works = [sample.outcome.succeeded for sample in samples]
    first = next((at for at, good in enumerate(works) if not good), len(works))
    places = sum(s.outcome is Outcome.FAILED and s.launch.attempt == 0 for s in samples)
    if not first or any(works[first:]) or places < max(MIN_OF_ARM, MIN_SHARE * first):
        return None
    return arm_failed_since_first(name, first, len(works) - first)


def describe_first_successes(samples: Sequence[Sample]) -> str | None:
    """Describe an arm that worked first and fails since, possibly by chance; else ``None``.

    Args:
        samples: samples of the arm, in the order of the launches.
    """
    works = [sample.outcome.succeeded for sample in samples if not sample.build_failed]
    first = next((at for at, good in enumerate(works) if not good), len(works))
    if not first or first == len(works) or any(works[first:]):
        return None
    return possible_clean_up(samples[0].launch.arm, first)


def failure_order_notes(samples: Sequence[Sample]) -> list[str]:
    """Return the failure order as notes.

    Args:
        samples: samples of one stratum.
    """
    description = describe_failure_order(samples)
    return [] if description is None else [order_note(description)]


def _alternates(works: Sequence[bool]) -> bool:
    return all(one != other for one, other in pairwise(works))
