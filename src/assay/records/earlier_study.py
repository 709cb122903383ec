"""What earlier studies knew when a study began."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Configuration


class EarlierConfiguration(Record, frozen=True, kw_only=True):
    """What an earlier study saw of one configuration.

    Attributes:
        configuration: as the space of the later study writes it.
        log_ratio: natural logarithm of what it took over what the default of the earlier study did,
            turned so that lower is better; absent where every launch failed.
        launches: how many it rests on.
    """

    configuration: Configuration
    log_ratio: float | None = None
    launches: int = 1


class EarlierStudy(Record, frozen=True, kw_only=True):
    """One earlier study, as far as it can guide a later one. It is no evidence of anything.

    Attributes:
        study: its id, in the store that the later study was begun in.
        command: what it ran.
        same_workload: whether that is what the later study runs.
        launches: that it had made.
        known: the configurations that the later study's space holds, the best first.
        left_out: how many further ones it does not hold.
    """

    study: str
    command: str
    same_workload: bool = False
    launches: int = 0
    known: tuple[EarlierConfiguration, ...] = ()
    left_out: int = 0
