"""Observer: receiver of the announcements that precede and accompany a request."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.records import Budget, StudySpec, Workload
    from assay.study.listener import Listener


class Observer:
    """Receiver of announcements; this one ignores all of them.

    Texts may quote file names and output of programs: the receiver escapes them.
    """

    def noted(self, text: str) -> None:
        """Receive a limitation or a finding, as a text without a final full stop or with one."""

    def workload_known(self, workload: Workload, budget: Budget) -> None:
        """Receive the workload and the budget of a study, before anything is launched."""

    def share_reserved(self, share: str) -> None:
        """Receive the description of a reserved share of a partition."""

    def boots_announced(self, words: str) -> None:
        """Receive the number of boots that a study needs, as a sentence."""

    def building(self, argv: tuple[str, ...]) -> AbstractContextManager[None]:
        """Return the context of a build that precedes the study."""
        return nullcontext()

    def inspecting(self) -> AbstractContextManager[None]:
        """Return the context of the first launch, which inspects the program."""
        return nullcontext()

    def ending(self, grace_s: float) -> None:
        """Receive an interrupt of that launch.

        Args:
            grace_s: time until SIGKILL, in seconds.
        """

    def space_known(self, choice: object) -> None:
        """Receive the search space of a study, as a ``SpaceChoice``."""

    def design_known(self, spec: StudySpec) -> None:
        """Receive the specification of a sweep."""

    def listening(self, spec: StudySpec, launches: int = 0) -> AbstractContextManager[Listener]:
        """Return the context of a running study, with the receiver of its progress.

        Args:
            spec: specification of the study.
            launches: number of earlier launches, of a resumed study or a survey of the program.
        """
        from assay.study.listener import SilentListener

        return nullcontext(SilentListener())
