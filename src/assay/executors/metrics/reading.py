"""Reading of all metrics of a launch, and refusal of doubtful figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed
from assay.executors.metrics.extract import MetricReadings, metrics_of
from assay.executors.metrics.headers import UNIT_SEPARATOR
from assay.executors.metrics.instances import InstanceOutputs, metrics_of_instances
from assay.executors.metrics.metric_files import FileState, metric_path, written_since
from assay.records import Metric, RunFacts, Workload


def read_metrics(
    workload: Workload,
    facts: RunFacts,
    outputs: Sequence[Path],
    instances: InstanceOutputs = (),
    before: Mapping[Path, FileState] = {},
) -> MetricReadings:
    """Read all metrics of a launch.

    Args:
        workload: source of the metrics.
        facts: record of the launcher.
        outputs: output files of the program.
        instances: output files by instance, if there are several.
        before: state of the metric files before the launch.
    """
    if instances:
        return metrics_of_instances(workload.metrics, facts, instances)
    written = {
        metric.name: written_since(path, before.get(path))
        for metric in workload.metrics
        if metric.file is not None
        for path in (metric_path(metric, workload),)
    }
    return metrics_of(workload.metrics, facts, outputs, written)


def demand_figures(workload: Workload, reading: MetricReadings) -> None:
    """Refuse a figure that is part of a longer number, and a rate with the goal lower.

    Args:
        workload: source of the metrics.
        reading: metrics of its first launch, which succeeded.

    Raises:
        InvalidInputError: such a figure exists; the message names the first one.
    """
    for name, number in reading.cut.items():
        raise InvalidInputError(
            f"{name}: {reading.absent[name]}.",
            f"Correct the pattern, so that it matches all of {number!r} or the text beside the "
            f"figure, or run the program with LC_ALL=C; --metric-as-is {name} accepts it "
            "unchanged.",
        )
    demand_directed(
        msgspec.structs.replace(metric, unit=unit)
        for metric in workload.metrics
        for unit in _shown_units(metric, reading)
    )


def _shown_units(metric: Metric, reading: MetricReadings) -> list[str]:
    """Return the printed unit of a figure and the word after it; else the metric's unit."""
    unit = reading.units.get(metric.name, "")
    found = ("" if UNIT_SEPARATOR in unit else unit, reading.words.get(metric.name, ""))
    return [one for one in found if one] or [metric.unit]
