"""Earlier studies: results that guide the search of a new study (warm start)."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Configuration
from assay.records.workload import Goal


class EarlierConfiguration(Record, frozen=True, kw_only=True):
    """Result of an earlier study for one configuration.

    Attributes:
        configuration: the configuration in the space of the later study.
        log_ratio: natural logarithm of its objective over that of the default, with the sign
            changed if higher is better, so that lower is better; absent if every launch failed.
        launches: number of launches.
    """

    configuration: Configuration
    log_ratio: float | None = None
    launches: int = 1


class EarlierStudy(Record, frozen=True, kw_only=True):
    """Earlier study that guides a later one; claims never rest on it.

    Attributes:
        study: its id in the store of the later study.
        command: its command.
        same_workload: true if both studies run the same workload.
        launches: number of its launches.
        known_configurations: its configurations within the space of the later study, best first.
        unused_configurations: number of its configurations outside that space.
    """

    study: str
    command: str
    same_workload: bool = False
    launches: int = 0
    known_configurations: tuple[EarlierConfiguration, ...] = ()
    unused_configurations: int = 0


class TriedConfiguration(Record, frozen=True, kw_only=True):
    """Configuration that another tool tried once.

    Attributes:
        configuration: values of all its parameters by name, defaults included.
        value: value of the objective, above 0; absent if the trial failed.
    """

    configuration: Configuration
    value: float | None = None


class ImportedTrials(Record, frozen=True, kw_only=True):
    """Trials of another tool that guide a search; claims never rest on them.

    Attributes:
        name: name of their source.
        goal: direction of improvement of their objective.
        trials: the tried configurations.
    """

    name: str
    goal: Goal
    trials: tuple[TriedConfiguration, ...] = ()
