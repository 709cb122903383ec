"""Requests of ``assay partition``."""

from __future__ import annotations

from assay.partition.lifecycle import DEFAULT_NAME, WAIT_S, PartitionRequest
from assay.records.codec import Record
from assay.requests.checks import demand_positive


class PartitionChangeRequest(Record, frozen=True, kw_only=True):
    """Change of a partition, which waits for other changes of the machine.

    Attributes:
        wait_s: time to wait for another process that changes the machine, in seconds (default: 30).
    """

    wait_s: float = WAIT_S

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: the time is not above zero.
        """
        demand_positive("wait_s", self.wait_s)


class PartitionCreateRequest(PartitionChangeRequest, frozen=True, kw_only=True):
    """Creation of a partition.

    Attributes:
        partition: requested partition.
        dry_run: list of the changes only (default: false).
    """

    partition: PartitionRequest
    dry_run: bool = False


class PartitionListRequest(Record, frozen=True, kw_only=True):
    """List of the partitions, with their state and their free resources.

    Attributes:
        name: name of a single partition (default: ``None``, all partitions).
    """

    name: str | None = None


class PartitionStartRequest(PartitionChangeRequest, frozen=True, kw_only=True):
    """Restoration of a partition that is not in force, and of its broker.

    Attributes:
        name: name of the partition (default: ``main``).
    """

    name: str = DEFAULT_NAME


class PartitionDeleteRequest(PartitionChangeRequest, frozen=True, kw_only=True):
    """Deletion of a partition.

    Attributes:
        name: name of the partition (default: ``main``).
        force: deletion even while the partition is in use (default: false).
    """

    name: str = DEFAULT_NAME
    force: bool = False
