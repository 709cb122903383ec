"""Requests of ``assay partition``."""

from __future__ import annotations

from assay.partition.lifecycle import DEFAULT_NAME, WAIT_S, PartitionRequest
from assay.records.codec import Record
from assay.requests.checks import demand_positive


class PartitionCreateRequest(Record, frozen=True, kw_only=True):
    """Creation of a partition.

    Attributes:
        partition: requested partition.
        wait_s: time to wait for another process that changes the machine, in seconds (default: 30).
        dry_run: list of the changes only (default: false).
    """

    partition: PartitionRequest
    wait_s: float = WAIT_S
    dry_run: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the time is not above zero.
        """
        demand_positive("wait_s", self.wait_s)


class PartitionListRequest(Record, frozen=True, kw_only=True):
    """List of the partitions, with their state and their free resources.

    Attributes:
        name: name of a single partition (default: ``None``, all partitions).
    """

    name: str | None = None


class PartitionStartRequest(Record, frozen=True, kw_only=True):
    """Restoration of a partition that is not in force, and of its broker.

    Attributes:
        name: name of the partition (default: ``main``).
        wait_s: time to wait for another process that changes the machine, in seconds (default: 30).
    """

    name: str = DEFAULT_NAME
    wait_s: float = WAIT_S

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the time is not above zero.
        """
        demand_positive("wait_s", self.wait_s)


class PartitionDeleteRequest(Record, frozen=True, kw_only=True):
    """Deletion of a partition.

    Attributes:
        name: name of the partition (default: ``main``).
        force: deletion even while the partition is in use (default: false).
        wait_s: time to wait for another process that changes the machine, in seconds (default: 30).
    """

    name: str = DEFAULT_NAME
    force: bool = False
    wait_s: float = WAIT_S

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the time is not above zero.
        """
        demand_positive("wait_s", self.wait_s)
