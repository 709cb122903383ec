"""Samples as a table: one row for each launch."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Sample, StudySpec
from assay.search.history.excluded_blocks import block_of, conditions_of

LIBRARIES = ("pandas", "polars")
"""Libraries for tables, in the order of preference."""


def rows_of(study_id: str, spec: StudySpec, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Return one row for each sample, all with the same columns.

    Columns are the study, the launch and its outcome, the fidelity of a study with one, each varied
    setting (``None`` for its default) and each metric.
    """
    conditions = conditions_of(spec, samples)
    excluded, disturbed = conditions.excluded, conditions.disturbed
    settings = list(dict.fromkeys(name for s in samples for name in s.launch.configuration))
    metrics = list(
        dict.fromkeys(
            [*(metric.name for metric in spec.workload.metrics), *_measured(samples)],
        )
    )
    return [
        {
            "study": study_id,
            "arm": sample.launch.arm,
            "stage": str(sample.launch.stage),
            "block": sample.launch.block,
            "position": sample.launch.position,
            "attempt": sample.launch.attempt,
            "outcome": str(sample.outcome),
            "excluded": block_of(sample) in excluded,
            "disturbed": block_of(sample) in disturbed,
            **_fidelity(spec, sample),
            **{name: sample.launch.configuration.get(name) for name in settings},
            **{name: _value(sample, name) for name in metrics},
        }
        for sample in samples
    ]


def _fidelity(spec: StudySpec, sample: Sample) -> dict[str, Any]:
    if spec.fidelity is None:
        return {}
    low = sample.launch.fidelity
    return {"fidelity": spec.fidelity.full if low is None else low}


def _measured(samples: Sequence[Sample]) -> list[str]:
    return [name for sample in samples for name in sample.metrics]


def _value(sample: Sample, name: str) -> float | None:
    if name in sample.metrics:
        return sample.metrics[name]
    return sample.wall_s if name == "wall_s" else None


def frame_of(rows: Sequence[dict[str, Any]], library: str | None) -> Any:
    """Return rows as a data frame.

    Args:
        rows: rows with the same columns.
        library: ``pandas`` or ``polars``; ``None`` for the first one that is installed.

    Raises:
        InvalidInputError: an unknown library.
        NotPossibleError: it is not installed.
    """
    if library is not None and library not in LIBRARIES:
        raise InvalidInputError(f"Unknown library: {library!r}.", "Give pandas or polars.")
    for name in LIBRARIES if library is None else (library,):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        columns = {key: [row[key] for row in rows] for key in rows[0]} if rows else {}
        return module.DataFrame(columns) if name == "pandas" else _polars(module, columns)
    missing = "neither pandas nor Polars is" if library is None else f"{library} is not"
    raise NotPossibleError(
        f"A data frame is not possible: {missing} installed.",
        "Install the extra: pip install 'assay[frames]'; result.rows has the same data.",
    )


def _polars(module: Any, columns: dict[str, list[Any]]) -> Any:
    """Return a frame of Polars; a setting may have values of several types."""
    return module.DataFrame(columns, strict=False)
