"""Metrics that a program reports while it runs, from ``--progress`` and its companions."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from assay.api.options.workload_options import WorkloadOptions
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.direction import is_speed
from assay.executors.metrics.figures import unit_of_pattern
from assay.executors.metrics.matching import checked_pattern, demand_group
from assay.executors.progress.presets.preset import SPEED_METRIC, SPEED_UNIT
from assay.executors.progress.presets.registry import PRESETS
from assay.executors.progress.speed_units import is_time_per_step
from assay.records import Derivation, DerivationKind, Goal, Metric, Progress, Until
from assay.records.workload import BUILT_IN

STEP_TIME = Metric(
    name="step_s", unit="s", goal=Goal.LOWER, derivation=Derivation(kind=DerivationKind.STEP)
)
"""Mean time of a step, which every program that reports its progress has."""
FORMS = (
    "Write for example --metric 'time_to(loss<=0.3)', --metric 'at(step=1000).loss' or --metric "
    "'final(loss)'."
)
UNTIL_FORMS = "Write --until end, --until auto or --until steady:200."
_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
_TIME_TO = re.compile(rf"time_to\(\s*(\w+)\s*(<=|>=)\s*({_NUMBER})\s*\)")
_AT = re.compile(rf"at\(\s*step\s*=\s*({_NUMBER})\s*\)\.(\w+)")
_FINAL = re.compile(r"final\(\s*(\w+)\s*\)")
_PRESET = re.compile(rf"({'|'.join(PRESETS)})(?:\.(\S+))?")
"""Known format, alone for its speed or with the name of one of its values: ``tqdm.loss``."""
_MIN_PRESET_SIMILARITY = 0.8
"""Similarity of a name to a known format above which it is taken for a misspelled one."""

_MISTYPED_END = 2
"""Number of letters at the end of a format that may differ."""
_MIN_START = 4
"""Smallest number of equal letters before them."""


def parse_progress(options: WorkloadOptions, units: dict[str, str]) -> dict[str, Metric]:
    """Return the metrics of ``--progress``, by name and in order.

    Args:
        options: texts of the options.
        units: units of metrics, by name.

    Raises:
        InvalidInputError: an invalid text, a name given twice, or a file without a metric.
    """
    found: dict[str, Metric] = {}
    for text in options.progress:
        metric = with_level(_progress_metric(text, options.progress_file, units))
        if metric.name in found:
            raise InvalidInputError(
                f"The metric {metric.name} is given twice.", "Name each metric once."
            )
        found[metric.name] = metric
    if options.progress_file is not None and not found:
        raise InvalidInputError(
            f"--progress-file {options.progress_file} has no metric.",
            "Name a column, key or tag of the file with --progress NAME.",
        )
    return found


def _progress_metric(text: str, file: str | None, units: dict[str, str]) -> Metric:
    """Return the metric of one ``--progress``.

    Args:
        text: NAME=REGEX, NAME, FORMAT, FORMAT.KEY, NAME=FORMAT or NAME=FORMAT.KEY.
        file: value of ``--progress-file``.
        units: units of metrics, by name.

    Raises:
        InvalidInputError: an invalid text, or a name that is not available.
    """
    name, equals, pattern = text.partition("=")
    preset = _PRESET.fullmatch(pattern if equals else text)
    if preset is not None:
        default = preset[2] or SPEED_METRIC
        return _preset_metric(_demand_name(name if equals else default, text), preset, file, units)
    _demand_name(name, text)
    if not equals:
        if file is None:
            _demand_no_misspelled_preset(name)
        return Metric(name=name, unit=units.get(name, ""), progress=Progress(file=file))
    pattern = checked_pattern(pattern, "--progress")
    demand_group(pattern, f"--progress {text}", "sps=samples/s: ([0-9.]+)")
    unit = units.get(name, "") or unit_of_pattern(pattern)
    return Metric(name=name, unit=unit, progress=Progress(pattern=pattern, file=file))


def with_level(metric: Metric) -> Metric:
    """Return a metric that says whether its reported values are other than a speed.

    Args:
        metric: metric whose source is known.
    """
    level = metric.progress is not None and not is_speed(metric)
    return msgspec.structs.replace(metric, level=level)


def _preset_metric(
    name: str, preset: re.Match[str], file: str | None, units: dict[str, str]
) -> Metric:
    """Return the metric of a known format: its speed, or one of its values."""
    source = Progress(preset=preset[1], key=preset[2] or "", file=file)
    if source.key:
        return Metric(name=name, unit=units.get(name, ""), progress=source)
    unit = units.get(name, SPEED_UNIT)
    goal = Goal.LOWER if is_time_per_step(unit) else Goal.HIGHER
    return Metric(name=name, unit=unit, goal=goal, progress=source)


def _demand_name(name: str, text: str) -> str:
    """Return the name of a metric.

    Raises:
        InvalidInputError: it is not an identifier, or is that of a built-in metric.
    """
    if not name.isidentifier():
        raise InvalidInputError(
            f"Invalid metric: --progress {text!r}.",
            "Write NAME=REGEX with one group, for example 'sps=samples/s: ([0-9.]+)', NAME for "
            "values from a file or from the progress channel, or a known format, for example "
            "'tqdm' or 'train_loss=tqdm.loss'.",
        )
    if name in BUILT_IN or name == STEP_TIME.name:
        raise InvalidInputError(
            f"{name} is the name of a built-in metric.",
            "Choose another name for the values of the program.",
        )
    return name


def _demand_no_misspelled_preset(name: str) -> None:
    """Refuse a name that is probably a misspelled format.

    Otherwise assay would wait for a value of that name in the progress channel.

    Raises:
        InvalidInputError: the name resembles a known format.
    """
    plain = name.lower().replace("_", "")
    near = nearest(plain, tuple(PRESETS), _MIN_PRESET_SIMILARITY)
    near = near or next((preset for preset in PRESETS if _is_mistyped(plain, preset)), None)
    if near is not None:
        raise InvalidInputError(
            f"Unknown format of progress: {name!r}.",
            f"Did you mean {near}? If the program writes a value {name!r} to the progress channel, "
            "give that value another name.",
        )


def _is_mistyped(name: str, known: str) -> bool:
    """Return whether a name has the letters of a known one in another order, or an exchanged end.

    Short names with swapped letters have a low similarity.
    """
    if name[:1] != known[:1]:
        return False
    return sorted(name) == sorted(known) or _has_other_end(name, known)


def _has_other_end(name: str, known: str) -> bool:
    start = known[:-_MISTYPED_END]
    is_as_long = abs(len(name) - len(known)) <= _MISTYPED_END
    return len(start) >= _MIN_START and name.startswith(start) and is_as_long


def is_derived(text: str) -> bool:
    """Return whether the text of ``--metric`` has the form of a derived metric."""
    return text == STEP_TIME.name or re.match(r"(time_to|at|final)\(", text) is not None


def derived_metric(text: str, reported: dict[str, Metric]) -> Metric:
    """Return the metric of ``time_to(...)``, ``at(...).NAME``, ``final(...)`` or ``step_s``.

    Args:
        text: value of ``--metric``.
        reported: metrics of ``--progress``.

    Raises:
        InvalidInputError: an invalid form, or an unknown metric.
    """
    if text == STEP_TIME.name:
        if not reported:
            raise InvalidInputError(
                "step_s needs the steps of the program.", "Name its progress with --progress."
            )
        return STEP_TIME
    derivation = _derivation(text)
    if derivation is None:
        raise InvalidInputError(f"Invalid metric: {text!r}.", FORMS)
    base = reported.get(derivation.metric)
    if base is None:
        near = nearest(derivation.metric, tuple(reported))
        raise InvalidInputError(
            f"{text}: unknown metric {derivation.metric!r}.",
            f"Did you mean {near}?" if near else "Name it with --progress NAME=REGEX first.",
        )
    if derivation.kind is DerivationKind.TIME_TO:
        return Metric(name=text, unit="s", derivation=derivation)
    return Metric(name=text, unit=base.unit, goal=base.goal, derivation=derivation)


def with_goal_of_source(metric: Metric, metrics: Mapping[str, Metric]) -> Metric:
    """Return a derived metric with the direction of improvement of its source.

    The time to a level is always better if it is lower.

    Args:
        metric: any metric.
        metrics: all metrics, by name.
    """
    derivation = metric.derivation
    if derivation is None or derivation.kind not in (DerivationKind.AT, DerivationKind.FINAL):
        return metric
    return msgspec.structs.replace(metric, goal=metrics[derivation.metric].goal)


def _derivation(text: str) -> Derivation | None:
    if (match := _TIME_TO.fullmatch(text)) is not None:
        metric, sign, level = match.groups()
        return Derivation(
            kind=DerivationKind.TIME_TO, metric=metric, level=float(level), falling=sign == "<="
        )
    if (match := _AT.fullmatch(text)) is not None:
        return Derivation(kind=DerivationKind.AT, metric=match[2], step=float(match[1]))
    if (match := _FINAL.fullmatch(text)) is not None:
        return Derivation(kind=DerivationKind.FINAL, metric=match[1])
    return None


def parse_until(text: str | None, metrics: tuple[Metric, ...]) -> Until | None:
    """Return the request of ``--until``; ``None`` if programs end by themselves.

    Args:
        text: value of the option.
        metrics: metrics of the workload, objective first.

    Raises:
        InvalidInputError: an invalid text, or an objective that needs whole launches.
    """
    if text is None or text == "end":
        return None
    kind, colon, number = text.partition(":")
    if text != "auto" and (kind != "steady" or not re.fullmatch(r"[1-9][0-9]{0,11}", number)):
        raise InvalidInputError(f"--until: invalid value {text!r}.", UNTIL_FORMS)
    objective = metrics[0]
    if objective.progress is None and objective.name != STEP_TIME.name:
        raise InvalidInputError(
            f"--until {text}: the objective {objective.name} needs whole launches.",
            "Decide by a metric that the program reports while it runs: --progress "
            "'sps=samples/s: ([0-9.]+)'.",
        )
    for metric in metrics:
        kind_of = None if metric.derivation is None else metric.derivation.kind
        if kind_of in (DerivationKind.FINAL, DerivationKind.TIME_TO):
            raise InvalidInputError(
                f"--until {text}: the metric {metric.name} needs whole launches.",
                f"Leave out --until or {metric.name}.",
            )
    return Until(steady_steps=float(number) if colon else None)
