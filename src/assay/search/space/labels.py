"""Labels: names of configurations in the conclusion and the samples of a search.

A search names its arms by their settings. If a file gives some of them names, these replace the
settings when a study is shown; stores and bundles keep the original arms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from assay.records import Conclusion, Configuration, Kind, Sample, StudySpec, to_builtins
from assay.records.codec import from_builtins
from assay.search.space.named_configurations import label_of

_SETTING_KEYS = frozenset({"configuration", "settings", "script"})
"""Keys whose values are settings and remain unchanged."""


def label_conclusion(spec: StudySpec, conclusion: Conclusion) -> Conclusion:
    """Replace settings by configuration names in the arms, claims and sentences of a conclusion."""
    points = (*conclusion.pareto_front, *conclusion.excluded_points)
    found = [arm.configuration for arm in conclusion.arms] + [point.settings for point in points]
    labels = _labels(spec, found)
    if not labels:
        return conclusion
    return from_builtins(_renamed(to_builtins(conclusion), labels, _pattern(labels)), Conclusion)


def label_samples(spec: StudySpec, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Replace settings by configuration names in the arms of samples."""
    labels = _labels(spec, (sample.launch.configuration for sample in samples))
    if not labels:
        return tuple(samples)
    return tuple(
        msgspec.structs.replace(
            sample,
            launch=msgspec.structs.replace(
                sample.launch, arm=labels.get(sample.launch.arm, sample.launch.arm)
            ),
        )
        for sample in samples
    )


def _labels(spec: StudySpec, configurations: Iterable[Configuration]) -> dict[str, str]:
    """Return the names of named configurations by the text of their settings."""
    if spec.kind is not Kind.TUNE or not spec.space.named_configurations:
        return {}
    labels = {
        str(configuration): label_of(spec.space, configuration)
        for configuration in set(configurations)
    }
    return {text: label for text, label in labels.items() if label is not None}


def _pattern(labels: Mapping[str, str]) -> re.Pattern[str]:
    """Return a pattern of the texts that does not match parts of a longer configuration."""
    texts = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.compile(rf"(?<![^\s(\"'])(?:{texts})(?! [A-Za-z_][\w.]*=)(?=[\s.,:;)\"']|$)")


def _renamed(value: Any, labels: Mapping[str, str], pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda match: labels[match[0]], value)
    if isinstance(value, dict):
        return {
            key: inner if key in _SETTING_KEYS else _renamed(inner, labels, pattern)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_renamed(inner, labels, pattern) for inner in value]
    return value
