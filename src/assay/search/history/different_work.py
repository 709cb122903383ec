"""Other work: configurations of a search whose output shows that they do not do the default's work.

A program may print a usage message and end well at once. Such a configuration must not win, however
short its launches are. Outputs may also depend on a setting without any fault, as bytes of a
compressor do on its level. So an output counts against a configuration only where as many other
values of the settings that may be the cause are known to write the default's output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

from assay.records import DEFAULT, Configuration, Kind, Sample, StudySpec, Value
from assay.records.configuration import show_value
from assay.search.history.same_work import MIN_EACH, OutputsSeen, compares_numbers
from assay.wording.objections import (
    COUNTS_AS_FAILED,
    others_count_as_failed,
    values_count_as_failed,
)

MAX_VALUES = 4
"""Values that the note names; of more it tells the number of configurations."""
_Place = tuple[str, Value]
"""A setting and a value of it."""


class DifferentWork:
    """The configurations that do not do the work of the default.

    Whether one belongs to them changes with each output: one launch that writes the default's, or
    a default whose output varies, clears it.

    Args:
        outputs: of all launches; a sample is added there first.
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
        self._judged: _Judged | None = _NONE

    @classmethod
    def of(cls, spec: StudySpec, outputs: ObservedOutputs) -> DifferentWork:
        """Return those of a study; other studies than a search have none.

        Args:
            spec: of the study.
            outputs: as for the class.
        """
        compares = spec.kind is Kind.TUNE and spec.workload.compares_outputs
        return cls(outputs, compares=compares, numbers=compares_numbers(spec))

    def add(self, sample: Sample) -> None:
        """Take in one sample."""
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
        """Tell whether an arm does the work of the default; ``None`` where that is not known.

        Where the default's output varies, the errors that arms report are all there is to go by.
        """
        errors = self._outputs.errors
        if errors.launches(self._default) < MIN_EACH or not errors.launches(name):
            return None
        if errors.reported(name, self._default) is not None:
            return False
        if self._outputs.is_constant(self._default):
            return self._outputs.agree((self._default, name), numbers=self._numbers)
        return True

    def hold(self, configuration: Configuration) -> bool:
        """Return whether a configuration, launched or not, is one of them."""
        found = self._found
        return configuration in found.configurations or found.explain(configuration)

    @property
    def launched(self) -> Collection[Configuration]:
        """Return those of them that were launched."""
        return self._found.configurations.keys()

    @property
    def launched_once(self) -> list[Configuration]:
        """Return those that a single launch shows, of the configuration and of its values."""
        found = self._found
        launches: Counter[_Place] = Counter()
        for one in found.configurations:
            often = self._launches(one)
            launches.update({place: often for place in one.items() if place in found.values})
        return [
            one
            for one in found.configurations
            if self._launches(one) < MIN_EACH
            and all(launches[place] < MIN_EACH for place in one.items())
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
        told = self._outputs.difference(names, numbers=self._numbers, effect=effect)
        return told or self._outputs.complaint(names[1], names[0], effect=effect)

    @property
    def _found(self) -> _Judged:
        if self._judged is None:
            self._judged = _judge(self._agrees)
        return self._judged


class _Judged(msgspec.Struct, frozen=True):
    """Judgement on all outputs.

    Attributes:
        configurations: that do other work, in the order in which that was seen.
        values: that alone explain it.
    """

    configurations: dict[Configuration, None] = {}
    values: frozenset[_Place] = frozenset()

    def explain(self, configuration: Configuration) -> bool:
        """Return whether a configuration has one of the values."""
        return bool(self.values) and any(place in self.values for place in configuration.items())


_NONE = _Judged()


def _judge(agrees: dict[Configuration, bool]) -> _Judged:
    """Judge configurations by whether their output agrees with the default's.

    A value that some configuration with the default's output has is cleared. The others of a
    configuration may be the cause of its output, and one of them that is alone is. Where all are
    cleared, their combination is the cause.
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
        one: None
        for one in causes
        if one not in open_ones or all(name not in follows for name, _ in open_ones[one])
    }
    return _Judged(held, values)


def _following(causes: Iterable[Iterable[_Place]], harmless: Counter[str]) -> set[str]:
    """Return the settings that outputs may depend on without any fault.

    Args:
        causes: for each configuration with different output, the values that may be the cause.
        harmless: for each setting, the number of its values that are cleared.
    """
    suspects = Counter(name for name, _ in {place for places in causes for place in places})
    return {name for name, count in suspects.items() if count > harmless[name]}
