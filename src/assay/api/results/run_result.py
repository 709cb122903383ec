"""Result of a single launch."""

from __future__ import annotations

import html
from dataclasses import dataclass

from assay.errors import WorkloadFailedError
from assay.records import Grant, GrantStatus, Sample
from assay.untrusted import clean

TAIL_CHARACTERS = 500
"""Length of the quoted end of an output."""


@dataclass(frozen=True)
class RunResult:
    """Result of ``assay.run``.

    Attributes:
        sample: measurements of the launch.
        stdout: standard output as text; empty if it was not captured.
        stderr: standard error as text; empty if it was not captured.

    Examples:
        >>> import assay
        >>> done = assay.run(["echo", "hello"]).check()
        >>> done.stdout.strip(), done.exit_status, done.succeeded
        ('hello', 0, True)
    """

    sample: Sample
    stdout: str = ""
    stderr: str = ""

    @property
    def exit_status(self) -> int | None:
        """Exit status of the program; ``None`` if a signal ended it."""
        return self.sample.exit_status

    @property
    def wall_s(self) -> float | None:
        """Wall time of the launch, in seconds; ``None`` if it failed."""
        return self.sample.metrics.get("wall_s", self.sample.wall_s)

    @property
    def succeeded(self) -> bool:
        """True if the program ended successfully."""
        return self.sample.outcome.succeeded

    @property
    def settings(self) -> dict[str, Grant]:
        """Verified result of each setting."""
        return dict(self.sample.settings)

    @property
    def refused(self) -> tuple[str, ...]:
        """Settings that were not in force."""
        return tuple(
            name for name, grant in self.settings.items() if grant.status is GrantStatus.REFUSED
        )

    def check(self) -> RunResult:
        """Return the result itself.

        Raises:
            WorkloadFailedError: the program failed.
        """
        if not self.succeeded:
            end = clean(self.stderr[-TAIL_CHARACTERS:].strip(), "\n")
            raise WorkloadFailedError(
                f"The program ended with the outcome {self.sample.outcome}"
                f" (exit status {self.exit_status}).",
                f"Its last output: {end}" if end else "It wrote nothing to standard error.",
            )
        return self

    def __repr__(self) -> str:
        wall = "" if self.wall_s is None else f", {self.wall_s:.3g} s"
        return f"<assay.RunResult {self.sample.outcome}, exit status {self.exit_status}{wall}>"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"
