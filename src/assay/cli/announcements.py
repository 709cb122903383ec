"""Announcements of studies on standard error."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from assay.api.context import Context
from assay.api.observer import Observer
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.termination import Terminated
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, termination_notice, uses_live_line
from assay.cli.startup import context_with
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.cli.arguments.common import CommonOptions
    from assay.records import Budget, StudySpec, Workload
    from assay.study.listener import Listener


def context_of(options: CommonOptions) -> Context:
    """Return the context of a verb that runs studies."""
    return context_with(options, Announcements(options))


class Announcements(Observer):
    """Observer that prints on standard error.

    Args:
        options: options of the verb.
    """

    def __init__(self, options: CommonOptions) -> None:
        self._options = options
        self._quiet = options.quiet

    def noted(self, text: str) -> None:
        """See ``Observer.noted``."""
        print(f"assay: {clean(text)}", file=sys.stderr, flush=True)

    def workload_known(self, workload: Workload, budget: Budget) -> None:
        """See ``Observer.workload_known``."""
        warn_of_unused_input(workload, quiet=self._quiet)
        warn_of_long_grace(workload, budget, quiet=self._quiet)
        warn_of_parallel_job(os.environ, quiet=self._quiet)

    def share_reserved(self, share: str) -> None:
        """See ``Observer.share_reserved``."""
        if not self._quiet:
            self.noted(f"reserved of {share}")

    def boots_announced(self, words: str) -> None:
        """See ``Observer.boots_announced``."""
        self._print(f"assay: {words}")

    @contextmanager
    def _reporting_interruption(self, activity: str, state: str) -> Iterator[None]:
        """Context that reports an interruption before the study begins."""
        try:
            yield
        except (KeyboardInterrupt, Terminated):
            print(f"assay: interrupted while {activity}; {state}.", file=sys.stderr)
            raise

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """See ``Observer.building``."""
        if self._quiet:
            return nullcontext()
        self._print(f"assay: building the program (not timed): {clean(shlex.join(argv))}")
        return self._reporting_interruption("building the program", "nothing was launched yet")

    def inspecting(self) -> AbstractContextManager[None]:
        """See ``Observer.inspecting``."""
        self._print("assay: inspecting the program (one launch, not timed)")
        return self._reporting_interruption(
            "inspecting the program", "no study was begun, and no data are kept"
        )

    def ending(self, grace_s: float) -> None:
        """See ``Observer.ending``."""
        print(termination_notice(grace_s), file=sys.stderr)

    def space_known(self, choice: object) -> None:
        """See ``Observer.space_known``."""
        from assay.api.studies.tuning import SpaceChoice  # both loaded by the verb
        from assay.cli.show.space import show_space

        if isinstance(choice, SpaceChoice) and not self._quiet:
            show_space(choice, verbose=self._options.verbose)

    def design_known(self, spec: StudySpec) -> None:
        """See ``Observer.design_known``."""
        from assay.cli.show.design import announced  # loaded by the verb

        if not self._quiet:
            lines = announced(spec, width_of(sys.stderr))
            print("\n".join(lines), file=sys.stderr, flush=True)

    def listening(self, spec: StudySpec, launches: int = 0) -> AbstractContextManager[Listener]:
        """See ``Observer.listening``."""
        live = uses_live_line(self._options.color)
        return Progress(spec, live=live, quiet=self._quiet, launches=launches)

    def _print(self, text: str) -> None:
        """Print a text in lines that fit the terminal, unless only the result is requested."""
        if self._quiet:
            return
        print("\n".join(wrapped([text], width_of(sys.stderr))), file=sys.stderr, flush=True)
