"""Request of ``assay run``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.codec import Record
from assay.records.observation import Observation
from assay.records.reservation import Reservation
from assay.requests.workload import BuildRequest

_STUDY_FIELDS = ("point", "cell", "unproven", "outputs_may_differ")
"""Fields that choose among the recommendations of a study."""


class RunRequest(Record, frozen=True, kw_only=True):
    """One launch of a command under a configuration.

    Attributes:
        argv: words of the command (default: the command of ``study``).
        settings: configuration, each setting as ``SETTING=VALUE``; overrides the recommendation
            (default: none).
        study: id of a study whose recommendation is applied, its beginning, or ``last`` (default:
            none).
        point: point of the Pareto front of the study, by number or settings (default: the best in
            the first objective).
        cell: cell of a sweep, or arm of a comparison, by name (default: the best, if a claim shows
            that it is better).
        unproven: acceptance of a recommendation that is not proven (default: false).
        outputs_may_differ: acceptance of a recommendation that changes the output (default: false).
        build: build of the program (default: that of the study).
        reserve: share of a partition in which the launch runs (default: none).
        record: path of the JSON file for the measurements; ``-`` for standard output (default:
            none).
        observe: observations of the launch; ``None`` for the default ones.
        explain: description of the plan only, without a launch (default: false).
    """

    argv: tuple[str, ...] | None = None
    settings: tuple[str, ...] = ()
    study: str | None = None
    point: str | None = None
    cell: str | None = None
    unproven: bool = False
    outputs_may_differ: bool = False
    build: BuildRequest | None = None
    reserve: Reservation | None = None
    record: str | None = None
    observe: tuple[Observation, ...] | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: neither a command nor a study is given, or a field of a study without
                one.
        """
        if self.study is not None:
            return
        if not self.argv or not self.argv[0]:
            raise InvalidInputError("argv is empty.", "Give the words of the command, or a study.")
        given = next((field for field in _STUDY_FIELDS if getattr(self, field)), None)
        if given is not None:
            raise InvalidInputError(f"{given} needs a study.", "Give the field study as well.")

    @property
    def is_plain(self) -> bool:
        """Return whether the command runs without settings, study, build and partition.

        Such a launch needs no description of the machine, the settings or the program.
        """
        return not (self.settings or self.study or self.build) and self.reserve is None
