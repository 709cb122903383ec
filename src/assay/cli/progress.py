"""Progress of a study: a live line on a terminal, now and then a plain one elsewhere."""

from __future__ import annotations

import argparse
import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.records import Budget, Kind, Launch, Sample, Stage, StudySpec
from assay.search.race import BlockRace, Race
from assay.search.standing import Standing, standing
from assay.units import show_count, show_duration, show_quantity

if TYPE_CHECKING:
    from rich.live import Live

STAGES = {
    Stage.SURVEY: "looking",
    Stage.GAUGE: "timing the default",
    Stage.SEARCH: "searching",
    Stage.REDUCE: "reducing",
    Stage.CONFIRM: "confirming",
}
PLAIN_EVERY_S = 10.0
LIVE_EVERY_S = 0.25


def wants_colour(arguments: argparse.Namespace) -> bool:
    """Whether standard error may hold colours and lines that change (no-color.org)."""
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    return (
        sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


class Progress:
    """Listens to a study and shows where it stands, on standard error.

    Args:
        spec: of the study.
        live: one line that changes, instead of plain lines.
        quiet: show nothing.
        launches: made before, by earlier sittings or to look at the program.
    """

    def __init__(self, spec: StudySpec, *, live: bool, quiet: bool, launches: int = 0) -> None:
        self._spec = spec
        self._wants_live = live and not quiet
        self._quiet = quiet
        self._live: Live | None = None
        self._shown_at = 0.0
        self._stage: Stage | None = None
        self._launches = launches
        self._study_id: str | None = None
        self._race: Race | None = None

    def __enter__(self) -> Progress:
        if self._wants_live:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
        interrupted = error is not None and not isinstance(error, AssayError)
        if interrupted and self._study_id is not None:
            print(
                f"assay: interrupted; study {self._study_id} is kept, with "
                f"{show_count(self._launches, 'launch', 'launches')}. "
                f"`assay study resume {self._study_id}` goes on.",
                file=sys.stderr,
            )

    def began(self, study_id: str) -> None:
        """See ``Listener.began``."""
        self._study_id = study_id

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener.launching``."""
        if launch.stage is not self._stage:
            self._stage = launch.stage
            self._race = None
            self._show(launch, left, force=True)
        else:
            self._show(launch, left, force=False)

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener.sampled``."""
        self._launches += 1
        self._race = race

    def _show(self, launch: Launch, left: Budget, *, force: bool) -> None:
        now = time.monotonic()
        due = LIVE_EVERY_S if self._live is not None else PLAIN_EVERY_S
        if self._quiet or (not force and now - self._shown_at < due):
            return
        self._shown_at = now
        parts = [STAGES[launch.stage], show_count(self._launches, "launch", "launches")]
        found = self._standing(launch.stage)
        if found is not None:
            parts.append(self._so_far(found))
        parts.append(_left(left))
        if self._live is None:
            print("assay: " + ", ".join(parts), file=sys.stderr, flush=True)
            return
        from rich.spinner import Spinner
        from rich.text import Text

        line = Text.assemble(
            (parts[0], "bold"),
            ("  " + "  ·  ".join(parts[1:]), ""),
            no_wrap=True,
            overflow="ellipsis",
        )
        self._live.update(Spinner("dots", text=line), refresh=True)

    def _standing(self, stage: Stage) -> Standing | None:
        """Who is ahead; worked out only when it is shown, since it takes longer than a launch."""
        if not isinstance(self._race, BlockRace):
            return None
        return standing(self._spec, self._race.history, stage)

    def _so_far(self, found: Standing) -> str:
        if self._spec.kind is Kind.MEASURE:
            unit = self._spec.workload.objective.unit
            text = show_quantity(found.ratio, unit)
            if found.lo is not None and found.hi is not None:
                text += f" (±{50 * (found.hi - found.lo) / found.ratio:.1f} %)"
            return text
        text = f"best so far {found.arm} {100 * (found.ratio - 1):+.1f} %"
        if found.lo is None and found.hi is None:
            return text
        ends = (
            f"{100 * (end - 1):+.1f}" if end is not None else "…" for end in (found.lo, found.hi)
        )
        return f"{text} ({' to '.join(ends)})"


def _left(left: Budget) -> str:
    parts = []
    if left.time_s is not None:
        parts.append(f"{show_duration(max(0.0, round(left.time_s)))} left")
    if left.launches is not None:
        parts.append(f"{show_count(max(0, left.launches), 'launch', 'launches')} left")
    return ", ".join(parts)
