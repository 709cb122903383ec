"""Warm start: results of earlier studies that guide a later one.

They determine early proposals and enter the model as correlated tasks (``search.model.surrogate``).
They are not evidence: the winner, its explanation and all claims depend on the later study's own
launches.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.errors import InvalidInputError
from assay.records import (
    DEFAULT,
    Configuration,
    EarlierConfiguration,
    EarlierStudy,
    Goal,
    ImportedTrials,
    Parameter,
    Sample,
    Stage,
    StudySpec,
    Value,
)
from assay.search.history.history import History
from assay.search.model.sample_means import mean_effects
from assay.search.model.searcher import Trial
from assay.search.model.trials import trials_of
from assay.search.space.search_space import SearchSpace, same_value

MAX_CONFIGURATIONS = 64
"""Maximum number of configurations from all earlier studies: the model's cost grows with their
number."""
MIN_CONFIGURATIONS = 2
"""Minimum number of configurations with a value in an earlier study."""
STAGES = (Stage.GAUGE, Stage.SEARCH, Stage.REDUCE, Stage.CONFIRM)
"""Stages whose launches are used; the survey is never timed."""


def transferable_results(
    spec: StudySpec, samples: Sequence[Sample], space: SearchSpace
) -> tuple[list[EarlierConfiguration], int]:
    """Return the results of a study for the configurations of a later space.

    Settings that the later study does not vary are dropped; configurations that differ only in
    these are merged into their mean.

    Args:
        spec: specification of the earlier study.
        samples: samples of one of its strata.
        space: search space of the later study.

    Returns:
        The results, the best first and failed ones last; and the number of configurations outside
        the later space.
    """
    trials = trials_of(History.of(spec, samples), STAGES)
    grouped: dict[Configuration, list[EarlierConfiguration]] = {}
    left_out = 0
    for known in _log_ratios(trials):
        found = project(known.configuration, spec.space.parameters, space)
        if found is None:
            left_out += 1
        else:
            grouped.setdefault(found, []).append(known)
    merged = [_merged(configuration, parts) for configuration, parts in grouped.items()]
    return sorted(merged, key=_rank), left_out


def imported_study(found: ImportedTrials, goal: Goal, space: SearchSpace) -> EarlierStudy:
    """Return the trials of another tool as an earlier study.

    Effects are relative to the default, or to the median of all trials if it was not tried.

    Args:
        found: trials of the other tool.
        goal: direction of improvement of the present objective.
        space: search space of the present study.

    Raises:
        InvalidInputError: the trials have another direction, or no results for this space.
    """
    if found.goal is not goal:
        raise InvalidInputError(
            f"{found.name} searches for a {found.goal} value, and this study for a {goal} one.",
            "Give trials with the same objective.",
        )
    sign = 1.0 if goal is Goal.LOWER else -1.0
    grouped: dict[Configuration, list[float]] = {}
    left_out = 0
    for trial in found.trials:
        configuration = project(trial.configuration, (), space)
        if configuration is None:
            left_out += 1
            continue
        logs = grouped.setdefault(configuration, [])
        if trial.value is not None:
            logs.append(sign * math.log(trial.value))
    every = [log for logs in grouped.values() for log in logs]
    own = grouped.get(DEFAULT) or []
    base = statistics.fmean(own) if own else statistics.median(every) if every else 0.0
    known = [
        EarlierConfiguration(
            configuration=configuration,
            log_ratio=statistics.fmean(logs) - base if logs else None,
            launches=max(1, len(logs)),
        )
        for configuration, logs in grouped.items()
    ]
    study = EarlierStudy(
        study=found.name,
        command=found.name,
        launches=len(found.trials),
        known_configurations=limit_results(sorted(known, key=_rank), MAX_CONFIGURATIONS),
        unused_configurations=left_out,
    )
    if not is_informative(study):
        raise InvalidInputError(
            f"{found.name} has results for fewer than {MIN_CONFIGURATIONS} configurations of this "
            "space.",
            "Check names and values of its parameters; names= translates them.",
        )
    return study


def _log_ratios(trials: Sequence[Trial]) -> Iterator[EarlierConfiguration]:
    """Yield the log ratio of every configuration to the default; that of the default is 0."""
    defaults = sum(t.configuration == DEFAULT and t.value is not None for t in trials)
    if defaults:
        yield EarlierConfiguration(configuration=DEFAULT, log_ratio=0.0, launches=defaults)
    for effect in mean_effects(trials):
        if math.isnan(effect.score):
            yield EarlierConfiguration(configuration=effect.configuration)
        else:
            yield EarlierConfiguration(
                configuration=effect.configuration,
                log_ratio=effect.score,
                launches=effect.launches,
            )


def project(
    configuration: Configuration, parameters: Iterable[Parameter], space: SearchSpace
) -> Configuration | None:
    """Return a configuration of an earlier study in the space of a later one.

    Args:
        configuration: configuration of the earlier study.
        parameters: parameters of its space; settings that were not set have their defaults.
        space: search space of the later study.

    Returns:
        The canonical, valid configuration; ``None`` if it is outside the space.
    """
    full: dict[str, Value] = {p.name: p.default for p in parameters if p.default is not None}
    full |= configuration
    values: dict[str, Value] = {}
    for name, parameter in space.parameters.items():
        value = full.get(name)
        if value is None or same_value(value, parameter.default):
            continue
        if value not in parameter.domain:
            return None
        values[name] = value
    found = space.canonical(Configuration(values))
    return found if space.valid(found) else None


def _merged(
    configuration: Configuration, parts: Sequence[EarlierConfiguration]
) -> EarlierConfiguration:
    """Merge configurations that are identical in a later space.

    The mean of several counts as one launch, since the dropped settings made them differ.
    """
    worked = [part.log_ratio for part in parts if part.log_ratio is not None]
    if not worked:
        return EarlierConfiguration(configuration=configuration)
    return EarlierConfiguration(
        configuration=configuration,
        log_ratio=math.fsum(worked) / len(worked),
        launches=parts[0].launches if len(parts) == 1 else 1,
    )


def _rank(known: EarlierConfiguration) -> tuple[float, str]:
    ratio = math.inf if known.log_ratio is None else known.log_ratio
    return ratio, str(known.configuration)


def is_informative(earlier: EarlierStudy) -> bool:
    """Return whether a study can guide another: a single configuration has no setting effects."""
    return (
        sum(known.log_ratio is not None for known in earlier.known_configurations)
        >= MIN_CONFIGURATIONS
    )


def informative_studies(
    earlier: Iterable[EarlierStudy], space: SearchSpace
) -> tuple[EarlierStudy, ...]:
    """Return the informative earlier studies, limited to the configurations of a space."""
    narrowed = (
        msgspec.structs.replace(
            one,
            known_configurations=tuple(
                k for k in one.known_configurations if _holds(space, k.configuration)
            ),
        )
        for one in earlier
    )
    return tuple(filter(is_informative, narrowed))


def _holds(space: SearchSpace, configuration: Configuration) -> bool:
    return configuration.keys() <= space.parameters.keys() and space.valid(configuration)


def limit_results(
    known: Sequence[EarlierConfiguration], max_results: int
) -> tuple[EarlierConfiguration, ...]:
    """Return at most ``max_results`` results: the better half, and evenly spaced ones of the rest.

    Args:
        known: results, the best first.
        max_results: maximum number, at least 2.
    """
    if len(known) <= max_results:
        return tuple(known)
    best = max_results - max_results // 2
    rest = known[best:]
    count = max_results // 2
    step = (len(rest) - 1) / max(1, count - 1)
    return (*known[:best], *(rest[round(i * step)] for i in range(count)))


def first_proposals(earlier: Sequence[EarlierStudy], count: int) -> list[Configuration]:
    """Return proposals for the first block: the best of each earlier study in turn.

    Proposals were better than the default of their study. Of two that differ in a single setting
    the better one is preferred as long as there are others.
    """
    queues = [[k.configuration for k in one.known_configurations if _better(k)] for one in earlier]
    ranked = [
        queue[position]
        for position in range(max(map(len, queues), default=0))
        for queue in queues
        if position < len(queue)
    ]
    ranked = [c for c in dict.fromkeys(ranked) if c != DEFAULT]
    chosen: list[Configuration] = []
    for distance in (2, 1):
        for candidate in ranked:
            if len(chosen) < count and all(_distance(candidate, c) >= distance for c in chosen):
                chosen.append(candidate)
    return chosen


def _better(known: EarlierConfiguration) -> bool:
    return known.log_ratio is not None and known.log_ratio < 0.0


def _distance(a: Configuration, b: Configuration) -> int:
    """Return the number of settings in which two configurations differ."""
    names = {**a, **b}
    return sum(a.get(n) != b.get(n) or type(a.get(n)) is not type(b.get(n)) for n in names)
