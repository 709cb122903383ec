"""Interrupts of a first launch: the program is asked to end in time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.study.survey import _awaited


class Running:
    """Executor with one launch that never ends."""

    def __init__(self, interrupt: Callable[[], None], grace_s: float) -> None:
        self._interrupt = interrupt
        self._grace_s = grace_s

    def poll(self, timeout_s: float | None) -> list[object]:
        self._interrupt()
        return []

    def ask_to_end(self) -> float:
        return self._grace_s


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("grace_s", "told"), [(4.0, [4.0]), (0.0, [])])
def test_interrupt_asks_the_program_to_end(grace_s: float, told: list[float]) -> None:
    ending: list[float] = []
    with pytest.raises(KeyboardInterrupt):
        _awaited(Running(interrupt, grace_s), ending.append, None)  # type: ignore[arg-type]
    assert ending == told
