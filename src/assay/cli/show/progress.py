"""Progress of a study: a live line on a terminal, an occasional plain line elsewhere.

The study pays for it: this module uses time of the budget, and work beside a launch disturbs it. So
a launch updates only a few fields. A thread draws the line once a second, so that the remaining
time continues to count down during a long launch. The leading arm is found once a second too.
Longer computations take at most the share ``MAX_OVERHEAD_SHARE`` of the elapsed time.
"""

from __future__ import annotations

import functools
import math
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from assay.cli.process.cursor import HiddenCursor
from assay.cli.process.termination import Terminated
from assay.cli.show.disturbed_count import DisturbedCount
from assay.cli.show.layout import MIN_WIDTH
from assay.cli.show.overhead_limiter import OverheadLimiter
from assay.cli.show.progress_state import ProgressState, fit_parts
from assay.errors import AssayError, ShareLostError
from assay.executors.progress.live import LatestReport
from assay.records import Budget, Kind, Launch, Sample, Stage, StudySpec, Value
from assay.search.conclusion.interim import interim_words
from assay.search.history.interference import interference_notes, interference_of
from assay.search.races.race import BlockRace, Race
from assay.search.races.scoreboard import Leader, Scoreboard, with_interval
from assay.search.races.tune import TuneRace
from assay.signal_handlers import deferred_signals
from assay.units import show_count, show_duration, show_percent, show_quantity
from assay.untrusted import clean
from assay.wording.launch_notes import interference_words
from assay.wording.stages import STAGE_NAMES

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

BUILDING = "building"
"""Name of the stage while the program is built."""
PLAIN_LINE_INTERVAL_S = 10.0
REFRESHES_PER_S = 1.0
"""Refresh rate of the line, per second. A refresh takes about 1 ms of a CPU that the program may
use: ten per second would be a disturbance of 1 %, as large as the effects that studies resolve."""
MAX_OVERHEAD_SHARE = 0.003
"""Maximum share of the elapsed time for estimates of the best arm. With the line itself the display
takes less than 1 % of a core."""
MAX_EARLIER_SAMPLES = 4096
"""Number of samples of a resumed study, the newest ones, that the leading arm rests on at first."""


def termination_notice(grace_s: float) -> str:
    """Return the message after an interrupt of a program that has time to end.

    Args:
        grace_s: time between the request to end and SIGKILL, in seconds.
    """
    return (
        f"assay: asked the program to end, and kills it after {show_duration(grace_s)}; "
        "Ctrl-C again kills it at once"
    )


def uses_live_line(color: str) -> bool:
    """Return whether standard error supports a live line (no-color.org).

    Args:
        color: ``auto``, ``always`` or ``never``.
    """
    if color == "never" or not sys.stderr.isatty():
        return False
    dumb = os.environ.get("TERM") == "dumb"
    return color == "always" or not (os.environ.get("NO_COLOR") or dumb)


class Progress:
    """Listener of a study that prints its progress on standard error.

    Args:
        spec: specification of the study.
        live: use one live line instead of plain lines.
        quiet: print nothing.
        launches: number of earlier launches, of a resumed study or a survey of the program.
    """

    def __init__(self, spec: StudySpec, *, live: bool, quiet: bool, launches: int = 0) -> None:
        self._spec = spec
        self._wants_live = live and not quiet
        self._quiet = quiet
        self._live: Live | None = None
        self._cursor = HiddenCursor()
        self._shown: ProgressState | None = None
        self._shown_at_s = -math.inf
        self._stage: Stage | None = None
        self._block = -1
        self._launches = launches
        self._study_id: str | None = None
        self._race: BlockRace | None = None
        self._board = Scoreboard(spec)
        self._limiter = OverheadLimiter(MAX_OVERHEAD_SHARE)
        self._interval: Leader | None = None
        self._disturbed = DisturbedCount()
        self._pending: list[Launch | Sample] = []
        self._newest: tuple[Budget, float] | None = None
        self._interim = ""
        self._latest: Callable[[], LatestReport | None] = lambda: None

    def __enter__(self) -> Progress:
        if self._wants_live:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                refresh_per_second=REFRESHES_PER_S,
                transient=True,
                get_renderable=self._line,
            )
            self._cursor.__enter__()
            try:
                with deferred_signals():  # rich cannot stop a line that is only partly started
                    self._live.start()
            except BaseException:  # a signal, once the cursor is hidden
                self._show_cursor(self._live)
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._show_cursor(self._live)
        if self._study_id is None:
            return
        if isinstance(error, (KeyboardInterrupt, Terminated)):
            print(f"assay: interrupted; {self._kept_study()}.", file=sys.stderr)
        elif isinstance(error, ShareLostError):
            print(f"assay: {self._kept_study()} once the partition is available.", file=sys.stderr)

    def _show_cursor(self, live: Live) -> None:
        try:
            with deferred_signals():
                live.stop()
        finally:  # rich may fail to stop a line that is only partly started
            self._cursor.__exit__(None, None, None)

    def _kept_study(self) -> str:
        launches = show_count(self._launches, "launch", "launches")
        resume = f"`assay study resume {self._study_id}` continues it"
        return f"study {self._study_id} is kept, with {launches}. {resume}"

    def started(self, study_id: str) -> None:
        """See ``Listener.started``."""
        self._study_id = study_id

    def warned(self, error: AssayError) -> None:
        """See ``Listener.warned``."""
        self._print(f"assay: warning: {error}")

    def noticed(self, text: str) -> None:
        """See ``Listener.noticed``."""
        if not self._quiet:
            self._print(f"assay: {clean(text)}")

    def watching(self, latest: Callable[[], LatestReport | None]) -> None:
        """See ``Listener.watching``. Only the live line shows the value, once a second."""
        self._latest = latest

    def ending(self, grace_s: float) -> None:
        """See ``Listener.ending``."""
        self._print(termination_notice(grace_s))

    def _print(self, text: str) -> None:
        """Print a line above the live line."""
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr)

    def launching(self, launch: Launch, left: Budget) -> None:
        """See ``Listener.launching``."""
        if self._quiet:
            return
        now_s = time.monotonic()
        self._pending.append(launch)
        self._newest = left, now_s
        new_stage = launch.stage is not self._stage
        period_s = PLAIN_LINE_INTERVAL_S if self._live is None else 1 / REFRESHES_PER_S
        is_new = new_stage or (self._live is not None and launch.fidelity is not None)
        if not is_new and now_s - self._shown_at_s < period_s:
            return
        self._shown_at_s = now_s
        self._count_pending()
        if new_stage:
            self._stage, self._interval = launch.stage, None
            if launch.stage is Stage.SEARCH:
                self._report_interference()
        if launch.fidelity is not None:
            so_far = self._fidelity_text(launch.fidelity)
        elif new_stage:
            so_far = ""
        elif self._shown is None or launch.block != self._block:
            so_far = self._so_far(launch)
        else:
            so_far = self._shown.so_far
        self._block = launch.block
        stage, disturbed = STAGE_NAMES[launch.stage], self._disturbed.text
        self._shown = ProgressState(stage, self._launches, so_far, left, now_s, disturbed)
        if self._live is None:
            self._plain()
        elif new_stage:
            self._live.refresh()

    @contextmanager
    def building(self, argv: tuple[str, ...]) -> Iterator[None]:
        """See ``Listener.building``. A plain line reports only long builds."""
        before = self._shown
        if self._quiet or before is None:
            yield
            return
        self._shown = replace(before, stage=BUILDING, so_far=clean(shlex.join(argv)))
        late = threading.Timer(PLAIN_LINE_INTERVAL_S, self._plain)
        late.daemon = True
        if self._live is None:
            late.start()
        try:
            yield
        finally:
            late.cancel()
            self._shown = before

    def sampled(self, sample: Sample, race: Race, left: Budget) -> None:
        """See ``Listener.sampled``."""
        self._launches += 1
        if self._quiet or not isinstance(race, BlockRace):
            return
        self._newest = left, time.monotonic()
        if self._race is None:
            self._race = race
            for earlier in race.history.samples[-MAX_EARLIER_SAMPLES:]:
                if earlier is not sample:
                    self._compare(earlier)
        self._pending.append(sample)

    def ended(self, launches: int) -> None:
        """See ``Listener.ended``."""
        self._launches = launches

    def _plain(self) -> None:
        """Print the current state as a plain line."""
        if self._shown is not None:
            self._shown_at_s = now_s = time.monotonic()
            print(f"assay: {', '.join(self._shown.parts(now_s))}", file=sys.stderr, flush=True)

    def _count_pending(self) -> None:
        """Count launches and samples together: in between, their data leave the caches."""
        history = self._race.history if self._race else None
        pending, self._pending = self._pending, []
        for each in pending:
            if isinstance(each, Launch):
                self._disturbed.start_launch(each, history)
            else:
                self._compare(each)
                self._disturbed.add_sample(each)

    def _compare(self, sample: Sample) -> None:
        if sample.launch.stage is not Stage.INTERFERENCE:
            self._board.add(sample)

    def _report_interference(self) -> None:
        """Print the interference of parallel launches, once it is measured."""
        found = interference_of(self._spec, self._race.history) if self._race else None
        if found is None:
            return
        text = f"assay: {interference_words(found)}"
        text += f"; {interference_notes(found)[0]}" if found.sequential_reason else ""
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def _line(self) -> Text:
        """Return the live line."""
        from rich.text import Text

        shown = self._shown
        if shown is None:
            return Text("")
        if self._newest is not None:
            left, at_s = self._newest
            shown = replace(shown, launches=self._launches, left=left, at_s=at_s)
        parts = shown.parts(time.monotonic())
        report = self._latest()
        if report is not None:
            parts.insert(_PARTS_BEFORE_VALUE, _report_text(report))
        width = self._live.console.width if self._live is not None else MIN_WIDTH
        stage, others = parts[0], fit_parts(parts, width)[len(parts[0]) :]
        return Text.assemble((stage, "bold"), others, no_wrap=True, overflow="ellipsis")

    def _fidelity_text(self, value: Value) -> str:
        """Return the low fidelity of a launch, whose values have no leader."""
        return "" if self._spec.fidelity is None else f"{self._spec.fidelity.name}={value}"

    def _so_far(self, launch: Launch) -> str:
        """Return the leading arm, with its interval if the time for it is available."""
        if self._spec.kind is Kind.CALIBRATE:
            return ""  # both arms are the same
        if isinstance(self._race, TuneRace) and launch.stage is Stage.SEARCH:
            return self._recommended(self._race)
        ahead = self._board.leader(launch.block)
        if ahead is None or self._race is None:
            return ""
        if self._limiter.due:
            history = self._race.history
            estimate = functools.partial(with_interval, self._spec, history, launch.stage, ahead)
            self._interval = self._limiter.spend(estimate)
        if self._interval is not None and self._interval.arm == ahead.arm:
            ahead = self._interval
        return self._standing_text(ahead)

    def _recommended(self, race: TuneRace) -> str:
        """Return the interim recommendation, computed again if the limiter permits it.

        It comes from a model of all launches, as in the answer of the study.
        """
        if self._limiter.due:
            self._interim = self._limiter.spend(lambda: interim_words(race))
        return clean(self._interim)

    def _standing_text(self, found: Leader) -> str:
        if self._spec.kind is Kind.MEASURE:
            unit = self._spec.workload.objective.unit
            text = show_quantity(found.ratio, unit)
            if found.lo is not None and found.hi is not None:
                text += f" (±{50 * (found.hi - found.lo) / found.ratio:.1f} %)"
            return text
        if not self._board.better(found):
            return ""  # no arm is better than the first one
        text = f"best so far {show_percent(found.ratio)} %"
        if found.lo is not None or found.hi is not None:
            ends = ("…" if e is None else show_percent(e) for e in (found.lo, found.hi))
            text += f" ({' to '.join(ends)})"
        return f"{text}: {clean(found.arm)}"  # last, since names may be long


_PARTS_BEFORE_VALUE = 2
"""Stage and remaining budget, which precede the newest value in the live line."""


def _report_text(report: LatestReport) -> str:
    """Return the newest value of the running launch."""
    value = show_quantity(report.value, report.unit)
    return f"{clean(report.metric)} {value} at step {report.step:,.0f}"
