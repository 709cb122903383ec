"""Launches of one arm of a study as one side of a comparison."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.errors import InvalidInputError
from assay.launch.command import command_of
from assay.machine.document import machine_in
from assay.records import (
    Arm,
    Conclusion,
    Configuration,
    Kind,
    Metric,
    Plan,
    Sample,
    Stage,
    Statistic,
    Stratum,
    StudySpec,
    Workload,
)
from assay.records.comparison import Condition, ConditionSource
from assay.records.configuration import DEFAULT
from assay.records.workload import BUILT_IN
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.occasions.side import MeasuredCondition
from assay.search.races.calibrate import calibrated_arms
from assay.stats.confidence_sequence import moments
from assay.units import show_count
from assay.wording.occasions import difference_line, disturbed_values_note, statistic_note

RECOMMENDED_ARM = "recommended"
"""Name that stands for the recommended arm of a study."""
COMMAND = "command"
"""Setting with the command of an arm."""
MAX_DISTURBED = 1 / 3
"""Largest share of disturbed values at which only the others count."""
_HOME = re.compile(r"(?<![\w/.~-])(?:/(?:home|Users)/[^/\s]+|/root)(?=/|$)")


def metric_of(spec: StudySpec, name: str | None) -> Metric:
    """Return the metric of that name, or the objective if none is named.

    Raises:
        InvalidInputError: unknown metric.
    """
    workload = spec.workload
    if name is None:
        return workload.objective
    known = {metric.name: metric for metric in workload.metrics}
    found = known.get(name) or BUILT_IN.get(name)
    if found is None:
        raise InvalidInputError(
            f"The study of {spec.command_line!r} has no metric {name!r}.",
            f"It has {', '.join(known)}.",
        )
    return found


def measured_condition(
    name: str,
    source: ConditionSource,
    study: str,
    spec: StudySpec,
    stratum: Stratum,
    samples: Iterable[Sample],
    *,
    conclusion: Conclusion | None = None,
    arm: str | None = None,
    metric: str | None = None,
) -> MeasuredCondition:
    """Return the launches of an arm that count, those of the confirmation, as a condition.

    Args:
        name: name of the condition as the user wrote it, for messages.
        source: a study of the store, or a bundle.
        study: identity of the study.
        spec: specification of the study.
        stratum: stratum of the launches.
        samples: samples of that stratum, read once.
        conclusion: conclusion of that stratum, for the recommended arm.
        arm: name of the arm, or ``recommended``; ``None`` for the first, which is the default of a
            ``tune`` and the baseline of a comparison.
        metric: compared metric; ``None`` for the objective.

    Raises:
        InvalidInputError: unknown arm or metric, or no comparable values.
    """
    figure = metric_of(spec, metric)
    began: list[float] = []
    history = _history(spec, figure, _noting_starts(samples, began))
    chosen = _chosen(name, spec, history, conclusion, arm)
    stage = _stage(spec, history, chosen[0])
    values, notes = _values(name, history, stage, chosen, figure)
    if spec.statistic is not Statistic.MEAN:
        notes = (statistic_note(name, str(spec.statistic)), *notes)
    mean, sd = _mean_and_sd(values)
    return MeasuredCondition(
        condition=Condition(
            name=name,
            source=source,
            n=len(values),
            mean=mean,
            sd=sd,
            study=study,
            stratum=stratum.number,
            arm=chosen[0].name,
            settings=settings_under(spec, chosen[0]),
            started_at=min(began, default=None),
            machine=stratum.machine,
            model=stratum.model or None,
            kernel=stratum.kernel,
        ),
        values=tuple(values),
        metric=figure,
        workload=workload_under(spec, chosen[0]),
        stratum=stratum,
        machine=machine_in(stratum.host),
        program=program_of(spec, stratum),
        notes=notes,
    )


def workload_under(spec: StudySpec, arm: Arm) -> Workload:
    """Return the workload of an arm with the defaults of its placeholders.

    In a comparison of commands each arm has its own.
    """
    command = arm.configuration.get(COMMAND)
    workload = spec.workload
    if command is not None:
        workload = msgspec.structs.replace(workload, argv=_split(str(command)))
    filled = command_of(Plan(configuration=DEFAULT), workload)
    return msgspec.structs.replace(workload, argv=filled, placeholders={})


def _split(command: str) -> tuple[str, ...]:
    """Return the words of a command; an invalid text is one word."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return (command,)


def settings_under(spec: StudySpec, arm: Arm) -> Configuration:
    """Return the settings of an arm without its command and the defaults of placeholders."""
    defaults = {f"arg.{name}": text for name, text in spec.workload.placeholders.items()}
    names = [name for name, value in arm.configuration.items() if defaults.get(name) == str(value)]
    return arm.configuration.without(COMMAND, *names)


def program_of(spec: StudySpec, stratum: Stratum) -> str | None:
    """Return the digest of the program; ``None`` for a study with several programs."""
    compares_commands = any(COMMAND in arm.configuration for arm in spec.arms)
    return None if compares_commands else stratum.program_digest


def _noting_starts(samples: Iterable[Sample], began: list[float]) -> Iterator[Sample]:
    """Yield the samples, and add the known times of their starts to a list."""
    for sample in samples:
        if sample.started_at > 0:
            began.append(sample.started_at)
        yield sample


def _history(spec: StudySpec, metric: Metric, samples: Iterable[Sample]) -> History:
    """Return the samples with this metric as the objective, by its mean."""
    workload = msgspec.structs.replace(spec.workload, metrics=(metric,))
    plain = msgspec.structs.replace(
        spec, workload=workload, statistic=Statistic.MEAN, objectives=()
    )
    return History.of(plain, samples)


def _chosen(
    name: str,
    spec: StudySpec,
    history: History,
    conclusion: Conclusion | None,
    requested: str | None,
) -> tuple[Arm, ...]:
    """Return the compared arm; for a calibration both identical ones.

    Raises:
        InvalidInputError: unknown arm, or no recommendation.
    """
    known = {
        arm.name: arm for stage in (Stage.CONFIRM, Stage.SEARCH) for arm in history.arms(stage)
    }
    first = spec.arms[0] if spec.arms else DEFAULT_ARM
    if requested is None:
        if spec.kind is Kind.CALIBRATE:
            return calibrated_arms(spec)
        return (first,)
    if requested == RECOMMENDED_ARM and requested not in known:
        return (_recommended(name, known.values(), conclusion),)
    if requested in known or requested == first.name:
        return (known.get(requested, first),)
    raise InvalidInputError(
        f"{name}: the study has no arm {requested!r}.", f"It has {', '.join(map(repr, known))}."
    )


def _recommended(name: str, arms: Iterable[Arm], conclusion: Conclusion | None) -> Arm:
    chosen = conclusion.recommendation if conclusion is not None else None
    if chosen is None:
        raise InvalidInputError(
            f"{name}: the study has no recommendation.", "Leave out @recommended, or name an arm."
        )
    for arm in arms:
        if arm.configuration == chosen.settings:
            return arm
    return Arm(name=str(Configuration(chosen.settings)), configuration=chosen.settings)


def _stage(spec: StudySpec, history: History, arm: Arm) -> Stage:
    """Return the confirmation; for the default of a search without one, the search.

    The default is in every block of a search independently of its values, so that these are not
    selected.
    """
    confirmed = history.blocks_run(Stage.CONFIRM, arm.name)
    if spec.kind is Kind.TUNE and not confirmed and not arm.configuration:
        return Stage.SEARCH
    return Stage.CONFIRM


def _values(
    name: str, history: History, stage: Stage, arms: Sequence[Arm], metric: Metric
) -> tuple[list[float], tuple[str, ...]]:
    """Return the values of these arms, and notes on them.

    Raises:
        InvalidInputError: fewer than two values, or values of launches that timed out.
    """
    names = {arm.name for arm in arms}
    known = [
        (seen, history.is_disturbed(stage, block))
        for arm, block, seen in history.outcomes(stage)
        if arm.name in names and seen is not None
    ]
    stopped = sum(seen.censored for seen, _ in known)
    if stopped:
        raise InvalidInputError(
            f"{name}: {show_count(stopped, 'launch', 'launches')} of {arms[0].name!r} reached "
            "the time-out, so its mean is unknown.",
            "Measure it again with a longer --timeout.",
        )
    lost = sum(disturbed for _, disturbed in known)
    mostly = lost > MAX_DISTURBED * len(known)
    values = [seen.value for seen, disturbed in known if mostly or not disturbed]
    notes: tuple[str, ...] = ()
    if lost:
        notes = (disturbed_values_note(name, lost, len(known), used=mostly),)
    if len(values) < 2:
        raise InvalidInputError(
            f"{name}: arm {arms[0].name!r} has {'only one value' if values else 'no values'} of "
            f"{metric.name} to compare.",
            "A ratio needs at least two values above zero; `assay study show` lists all.",
        )
    return values, notes


def _mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation, scaled so that no square overflows."""
    largest = max(values)
    mean, sd = moments([value / largest for value in values])
    return mean * largest, sd * largest


def workload_differences(a: Workload, b: Workload) -> list[str]:
    """Return the differences between two workloads, one line each; home directories are equal."""
    pairs = {
        "command": (_words(a.argv), _words(b.argv)),
        "environment": (_items(a.environment), _items(b.environment)),
        "input": (_portable_path(a.stdin), _portable_path(b.stdin)),
        "build": (_build(a), _build(b)),
        "limits": (str(a.limits), str(b.limits)),
    }
    return [
        difference_line(name, one, other) for name, (one, other) in pairs.items() if one != other
    ]


def metric_differences(a: Metric, b: Metric) -> list[str]:
    """Return the differing fields of two metrics, one line each."""
    return [
        difference_line(field, str(getattr(a, field) or ""), str(getattr(b, field) or ""))
        for field in ("name", "unit", "goal", "pattern", "combine")
        if getattr(a, field) != getattr(b, field)
    ]


def _words(argv: Sequence[str]) -> str:
    return shlex.join(_portable_path(word) for word in argv)


def _portable_path(text: str | None) -> str:
    """Return a path with ``~`` for any home directory, as in bundles."""
    return _HOME.sub("~", text or "")


def _items(items: dict[str, str]) -> str:
    return " ".join(f"{key}={_portable_path(value)}" for key, value in sorted(items.items()))


def _build(workload: Workload) -> str:
    recipe = workload.build
    return "" if recipe is None else f"{_words(recipe.argv)} {_items(recipe.values)}".strip()
