"""Table: one row for each sample, as CSV (RFC 4180)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TextIO

from assay.bundle.source import Source
from assay.records import Sample, StudySpec, Value
from assay.records.configuration import show_value
from assay.search.history.excluded_blocks import block_of
from assay.untrusted import no_formula

_POSITION_COLUMNS = ("stratum", "sample", "stage", "block", "position", "attempt", "arm")
_FIDELITY = ("fidelity",)
_COUNT_COLUMNS = ("excluded",)
_OUTCOME = ("outcome", "limit", "exit_status", "signal", "message")
_TIMES = ("started_at", "wall_s", "user_s", "sys_s", "peak_bytes", "peak_anon_bytes")
_STEADY = (
    *("begin_step", "begin_s", "end_step", "end_s", "period_steps"),
    *("settled", "ended_early", "bound"),
)
_ORIGIN = ("node", "launcher_version")
_times_of = attrgetter(*_TIMES)
Cell = str | float | None


def write_table(source: Source, target: TextIO) -> None:
    """Write a row for each sample, with values in their own units and empty cells without a value.

    The columns are the position, the fidelity of a study with one, whether the block was left out
    as disturbed, the outcome, the measurements of the launcher, then ``metric.NAME``,
    ``setting.NAME`` and ``grant.NAME``, ``evidence.KIND`` and its ``.note``. If an arm does not set
    a setting, ``grant.NAME`` is ``default`` and ``setting.NAME`` its default value, or ``default``
    if the study does not know it. A metric that launches report while they run also has the
    columns ``steady.NAME.FIELD`` of its steady part.
    """
    defaults = _defaults(source.record.spec)
    full = full_fidelity(source.record.spec)
    surveys = source.surveys
    metrics = _names(survey.metrics for survey in surveys)
    settings = _names(one for survey in surveys for one in survey.configurations)
    values = _names(survey.values for survey in surveys)
    notes = _names(survey.notes for survey in surveys)
    steady = _names(survey.steady for survey in surveys)
    out = csv.writer(target, lineterminator="\r\n")
    out.writerow(
        [
            *(*_POSITION_COLUMNS, *_FIDELITY, *_COUNT_COLUMNS, *_OUTCOME, *_TIMES, *_ORIGIN),
            *(f"metric.{name}" for name in metrics),
            *(f"steady.{name}.{field}" for name in steady for field in _STEADY),
            *(column for name in settings for column in (f"setting.{name}", f"grant.{name}")),
            *(f"evidence.{kind}" for kind in values),
            *(f"evidence.{kind}.note" for kind in notes),
        ]
    )
    for stratum, survey in zip(source.strata, surveys, strict=True):
        excluded = survey.excluded
        for number, sample in enumerate(stratum.samples, start=1):
            row = _fixed(stratum.stratum.number, number, sample, full, block_of(sample) in excluded)
            row += map(sample.metrics.get, metrics)
            row += [_steady(sample, name, field) for name in steady for field in _STEADY]
            row += [cell for name in settings for cell in _setting(sample, name, defaults)]
            # Of several pieces of a kind, the first one comes last, and counts.
            pieces = sample.evidence[::-1]
            row += map({piece.kind: piece.value for piece in pieces}.get, values)
            row += map(_text, map({piece.kind: piece.note for piece in pieces}.get, notes))
            out.writerow(row)


def _fixed(
    stratum: int, number: int, sample: Sample, full: Value | None, left_out: bool
) -> list[Cell]:
    """Return the columns that every study has.

    Args:
        stratum, number: numbers of the stratum, and of the sample within it.
        sample: the sample.
        full: full fidelity of the study, if it has one.
        left_out: whether the block was left out as disturbed.
    """
    launch = sample.launch
    fidelity = full if launch.fidelity is None else launch.fidelity
    return [
        *(stratum, number, launch.stage, launch.block, launch.position, launch.attempt),
        *(_text(launch.arm), _cell(fidelity), _cell(left_out)),
        *(sample.outcome, _text(sample.limit), sample.exit_status, sample.signal),
        *(_text(sample.message), *_times_of(sample)),
        *(_text(sample.node), _text(sample.launcher_version)),
    ]


def full_fidelity(spec: StudySpec) -> Value | None:
    """Return the full fidelity of a study; ``None`` without one."""
    return None if spec.fidelity is None else spec.fidelity.full


def _names(found: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return sorted names, so that the columns do not depend on the order of samples."""
    return tuple(sorted({name for names in found for name in names}))


NOT_SET = "default"
"""Cell for the grant, or the unknown value, of a setting that an arm does not set."""


def _defaults(spec: StudySpec) -> dict[str, Value]:
    """Return the known default values of settings."""
    workload = spec.workload
    build = workload.build.values if workload.build is not None else {}
    return {
        **{f"arg.{name}": value for name, value in workload.placeholders.items()},
        **{f"env.{name}": value for name, value in workload.environment.items()},
        **{f"build.{name}": value for name, value in build.items()},
        **{p.name: p.default for p in spec.space.parameters if p.default is not None},
    }


def _setting(sample: Sample, name: str, defaults: Mapping[str, Value]) -> Sequence[Cell]:
    grant = sample.settings.get(name)
    if name not in sample.launch.configuration:
        return _cell(defaults.get(name, NOT_SET)), _cell(grant.status if grant else NOT_SET)
    return _cell(sample.launch.configuration.get(name)), _cell(grant.status if grant else None)


def _steady(sample: Sample, name: str, field: str) -> Cell:
    return _cell(getattr(sample.steady.get(name), field, None))


def _cell(value: Value | None) -> Cell:
    """Return a cell; ``csv`` writes numbers with all digits, and nothing for ``None``."""
    if isinstance(value, str):
        return no_formula(value)
    return show_value(value) if isinstance(value, bool) else value


def _text(text: str | None) -> str | None:
    """Return a cell; text that a spreadsheet would read as a formula is quoted."""
    return no_formula(text) if text else text
