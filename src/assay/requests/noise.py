"""Request of ``assay machine noise``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.noise.driver import NoiseRequest
from assay.records.codec import Record


class MachineNoiseRequest(Record, frozen=True, kw_only=True):
    """Measurements of the OS noise of this machine.

    Attributes:
        measurements: measurements, in their order.
        tool: tracer of the kernel that measures instead, ``osnoise`` or ``timerlat`` (default:
            none).
    """

    measurements: tuple[NoiseRequest, ...]
    tool: str | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: measurements are missing.
        """
        if not self.measurements:
            raise InvalidInputError("measurements is empty.", "Give at least one.")
