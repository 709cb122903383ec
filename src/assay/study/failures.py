"""Failures: newest failed launch and reason of each arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.executors.evidence.failure_output import failure_excerpt_of
from assay.records import Output, Sample, StudySpec
from assay.units import show_count
from assay.wording.failure import MAX_ARMS, RUN_BY_HAND, Failure, failure_in

MAX_REMEDIES = 2
"""Maximum number of remedies in a message."""


class FailedLaunches:
    """Newest failed launch of each arm of a study.

    Args:
        spec: specification of the study.
        earlier: samples of earlier sessions, in the order of launch.
    """

    def __init__(self, spec: StudySpec, earlier: Iterable[Sample] = ()) -> None:
        self._spec = spec
        self._found: dict[str, tuple[Failure, str]] = {}
        for sample in earlier:
            self.add(sample)

    def add(self, sample: Sample, outputs: Sequence[Output] = ()) -> None:
        """Add a launch.

        Args:
            sample: sample of the launch.
            outputs: its stored outputs, whose last lines are quoted.
        """
        failure = failure_in(self._spec, sample)
        if failure is not None:
            # Keep the newest failure of all arms last.
            self._found.pop(sample.launch.arm, None)
            self._found[sample.launch.arm] = failure, failure_excerpt_of(outputs)

    def explain(self, arms: Sequence[str]) -> tuple[str, str]:
        """Return the reasons of arms as a sentence or a list, and the next step.

        Args:
            arms: names of arms; empty for the newest failure.
        """
        known = [name for name in arms if name in self._found]
        known = known or list(self._found)[-1:]
        if not known:
            return "", RUN_BY_HAND
        if len(known) == 1:
            failure, words = self._found[known[0]]
            return f" The last launch: {failure.reason}.{words}", failure.remedy
        found = [self._found[name][0] for name in known]
        remedies = list(dict.fromkeys(failure.first for failure in found))[:MAX_REMEDIES]
        remedies += _accepting(known, found)
        lines = [
            f"\n  {name}: {failure.reason}.{words}"
            for name, (failure, words) in ((name, self._found[name]) for name in known[:MAX_ARMS])
        ]
        rest = len(known) - MAX_ARMS
        lines += [f"\n  and {show_count(rest, 'other arm')}"] if rest > 0 else []
        return "".join(lines), " ".join(remedies)


def _accepting(names: Sequence[str], found: Sequence[Failure]) -> list[str]:
    """Return options that accept an exit status as success, once for each status."""
    by_status: dict[int, list[str]] = {}
    for name, failure in zip(names, found, strict=True):
        by_status.setdefault(failure.status, []).append(repr(name))
    sentences = [
        Failure("", status=s).accepting(" and ".join(arms_of_status))
        for s, arms_of_status in by_status.items()
    ]
    return [text for text in sentences if text][:MAX_REMEDIES]
