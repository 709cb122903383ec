"""Request of ``assay measure``."""

from __future__ import annotations

from assay.requests.checks import demand_share, demand_whole
from assay.requests.study import StudyRequest


class MeasureRequest(StudyRequest, frozen=True, kw_only=True):
    """Repeated launches of one configuration until its mean is precise enough.

    Attributes:
        settings: configuration, each setting as ``SETTING=VALUE`` (default: that of the system).
        precision: half the confidence interval of the mean at which the study ends, as a share of
            the mean (default: 0.01).
        warmup: number of warm-up launches (default: ``None``, until launches get no faster).
        gate: conditions that make the exit status 1 (default: none).
    """

    settings: tuple[str, ...] = ()
    precision: float | None = None
    warmup: int | None = None
    gate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid.
        """
        super().__post_init__()
        demand_share("precision", self.precision)
        demand_whole("warmup", self.warmup, 0)
