"""Naming: the conclusion and the samples of a search with the names of its configurations.

A search names its arms by their settings. Where a file gives some of them names, these are put in
place of the settings when a study is shown; stores and bundles keep the arms as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from assay.records import Conclusion, Configuration, Kind, Sample, StudySpec, to_builtins
from assay.records.codec import from_builtins
from assay.search.space.named_configurations import label_of

_KEPT = frozenset({"configuration", "settings", "script"})
"""Keys of what holds settings themselves."""


def label_conclusion(spec: StudySpec, conclusion: Conclusion) -> Conclusion:
    """Put names in place of the settings that they stand for: in arms, claims and sentences."""
    points = (*conclusion.front, *conclusion.off_front)
    found = [arm.configuration for arm in conclusion.arms] + [point.settings for point in points]
    labels = _labels(spec, found)
    if not labels:
        return conclusion
    return from_builtins(_renamed(to_builtins(conclusion), labels, _pattern(labels)), Conclusion)


def label_samples(spec: StudySpec, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Name the arms of samples in the same way."""
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
    """Return names by the text of configurations, of those that have one."""
    if spec.kind is not Kind.TUNE or not spec.space.named:
        return {}
    labels = {str(one): label_of(spec.space, one) for one in set(configurations)}
    return {text: label for text, label in labels.items() if label is not None}


def _pattern(labels: Mapping[str, str]) -> re.Pattern[str]:
    """Match the texts where they are not part of a longer configuration."""
    texts = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.compile(rf"(?<![^\s(\"'])(?:{texts})(?! [A-Za-z_][\w.]*=)(?=[\s.,:;)\"']|$)")


def _renamed(value: Any, labels: Mapping[str, str], pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda match: labels[match[0]], value)
    if isinstance(value, dict):
        return {
            key: inner if key in _KEPT else _renamed(inner, labels, pattern)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_renamed(inner, labels, pattern) for inner in value]
    return value
