"""Different work: configurations of a search whose output differs from the default's.

A program may print a usage message and exit successfully at once. Such a configuration must not
win, however short its launches are. Outputs may also depend on a setting legitimately: the bytes of
a compressor depend on its level. So an output counts against a configuration only if at least as
many other values of the suspected settings are known to write the default's output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from assay.records import DEFAULT, Configuration, Kind, Sample, StudySpec, Value
from assay.records.configuration import show_value
from assay.search.history.output_comparison import MIN_EACH, ObservedOutputs, compares_numbers
from assay.wording.objections import (
    COUNTS_AS_FAILED,
    others_count_as_failed,
    values_count_as_failed,
)

MAX_VALUES = 4
"""Maximum number of values named in the note; with more it states the number of configurations."""
_SettingValue = tuple[str, Value]
"""A setting and a value of it."""


class DifferentWork:
    """Configurations that do different work than the default.

    The set changes with each output: one launch with the default's output, or a default with
    varying output, clears a configuration.

    Args:
        outputs: outputs of all launches; samples are added there first.
        compares: whether outputs are compared at all.
        numbers: whether numbers in them are.
        default: name of the default's arm.
    """

    def __init__(
        self,
        outputs: ObservedOutputs,
        *,
        compares: bool = False,
        numbers: bool = True,
        default: str = str(DEFAULT),
    ) -> None:
        self._outputs = outputs
        self._compares = compares
        self._numbers = numbers
        self._default = default
        self._state: tuple[object, ...] = ()
        self._names: dict[Configuration, str] = {}
        self._agrees: dict[Configuration, bool] = {}
        self._judged: _Judgement | None = _NONE

    @classmethod
    def of(cls, spec: StudySpec, outputs: ObservedOutputs) -> DifferentWork:
        """Return the configurations of a study; studies without a search have none.

        Args:
            spec: specification of the study.
            outputs: outputs of all launches.
        """
        compares = spec.kind is Kind.TUNE and spec.workload.compares_outputs
        return cls(outputs, compares=compares, numbers=compares_numbers(spec))

    def add(self, sample: Sample) -> None:
        """Add one sample."""
        configuration = sample.launch.configuration
        if not self._compares:
            return
        if configuration != DEFAULT:
            self._names.setdefault(configuration, sample.launch.arm)
        errors = self._outputs.errors
        enough = errors.launches(self._default) >= MIN_EACH
        state = enough, self._outputs.is_constant(self._default), errors.ever(self._default)
        changed = state != self._state
        self._state = state
        for one in self._names if changed else {configuration} - {DEFAULT}:
            self._compare(one)

    def _compare(self, configuration: Configuration) -> None:
        found = self._agreement(self._names[configuration])
        if found is self._agrees.get(configuration):
            return
        self._agrees.pop(configuration, None)
        if found is not None:
            self._agrees[configuration] = found
        self._judged = None

    def _agreement(self, name: str) -> bool | None:
        """Return whether an arm does the same work as the default; ``None`` if unknown.

        If the default's output varies, only reported errors count.
        """
        errors = self._outputs.errors
        if errors.launches(self._default) < MIN_EACH or not errors.launches(name):
            return None
        if errors.reported(name, self._default) is not None:
            return False
        if self._outputs.is_constant(self._default):
            return self._outputs.agree((self._default, name), numbers=self._numbers)
        return True

    def covers(self, configuration: Configuration) -> bool:
        """Return whether a configuration, launched or not, does different work."""
        found = self._found
        return configuration in found.configurations or found.explain(configuration)

    @property
    def launched(self) -> Collection[Configuration]:
        """Return the launched configurations that do different work."""
        return self._found.configurations.keys()

    @property
    def launched_once(self) -> list[Configuration]:
        """Return those known from a single launch, both of the configuration and of its values."""
        found = self._found
        launches: Counter[_SettingValue] = Counter()
        for configuration in found.configurations:
            often = self._launches(configuration)
            launches.update(
                {place: often for place in configuration.items() if place in found.values}
            )
        return [
            configuration
            for configuration in found.configurations
            if self._launches(configuration) < MIN_EACH
            and all(launches[place] < MIN_EACH for place in configuration.items())
        ]

    def _launches(self, configuration: Configuration) -> int:
        return self._outputs.errors.launches(self._names[configuration])

    @property
    def note(self) -> str | None:
        """Return one sentence on all of them, with the output of one; ``None`` without any."""
        found = self._found
        if not found.configurations:
            return None
        first, *others = sorted(found.configurations, key=lambda c: (len(c), str(c)))
        effect = COUNTS_AS_FAILED
        explained = all(map(found.explain, found.configurations))
        if others and explained and len(found.values) <= MAX_VALUES:
            values = sorted(f"{n}={show_value(v)}" for n, v in found.values)
            effect = values_count_as_failed(values)
        elif others:
            effect = others_count_as_failed(len(others))
        names = self._default, self._names[first]
        difference = self._outputs.difference(names, numbers=self._numbers, effect=effect)
        return difference or self._outputs.complaint(names[1], names[0], effect=effect)

    @property
    def _found(self) -> _Judgement:
        if self._judged is None:
            self._judged = _judge(self._agrees)
        return self._judged


class _Judgement(msgspec.Struct, frozen=True):
    """Result of comparing all outputs.

    Attributes:
        configurations: configurations that do different work, in the order of detection.
        values: values that explain different work by themselves.
    """

    configurations: dict[Configuration, None] = {}
    values: frozenset[_SettingValue] = frozenset()

    def explain(self, configuration: Configuration) -> bool:
        """Return whether a configuration contains one of the values."""
        return bool(self.values) and any(place in self.values for place in configuration.items())


_NONE = _Judgement()


def _judge(agrees: dict[Configuration, bool]) -> _Judgement:
    """Classify configurations by whether their output agrees with the default's.

    A value of any configuration with the default's output is cleared. The other values of a
    configuration are suspected; a single suspected value is the cause. If all values are cleared,
    their combination is the cause.
    """
    cleared = {place for one, same in agrees.items() if same for place in one.items()}
    causes = {
        one: [place for place in one.items() if place not in cleared]
        for one, same in agrees.items()
        if not same
    }
    harmless = Counter(name for name, _ in cleared)
    follows = _following(causes.values(), harmless)
    values = frozenset(
        places[0] for places in causes.values() if len(places) == 1 and places[0][0] not in follows
    )
    open_ones = {one: p for one, p in causes.items() if values.isdisjoint(one.items())}
    follows = _following(open_ones.values(), harmless)
    held = {
        cause: None
        for cause in causes
        if cause not in open_ones or all(name not in follows for name, _ in open_ones[cause])
    }
    return _Judgement(held, values)


def _following(causes: Iterable[Iterable[_SettingValue]], harmless: Counter[str]) -> set[str]:
    """Return the settings on which outputs may legitimately depend.

    Args:
        causes: suspected values of each configuration with different output.
        harmless: number of cleared values of each setting.
    """
    suspects = Counter(name for name, _ in {place for places in causes for place in places})
    return {name for name, count in suspects.items() if count > harmless[name]}
