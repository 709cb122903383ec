"""Studies in threads and event loops: one at a time, stopped, awaited and cancelled."""

from __future__ import annotations

import asyncio
import threading

import pytest

import assay
from assay.api.functions.session import CONTROL, session
from assay.api.process import single_study


def told(value: int) -> int:
    return value


def failing() -> int:
    raise assay.WorkloadFailedError("it fails")


def until_stopped(begun: threading.Event) -> None:
    """Wait for the request to stop, as the study loop does."""
    control = CONTROL.get()
    assert control is not None
    begun.set()
    while True:
        control.stop.check()


def test_study_returns_the_value_of_its_function() -> None:
    study = assay.Study(told, 3)
    assert "not started" in repr(study)
    assert study.result() == 3
    assert not study.running
    assert study.id is None
    with pytest.raises(assay.NotPossibleError, match="started before"):
        study.start()


def test_representation_of_a_new_study_says_that_it_has_not_started() -> None:
    assert repr(assay.Study(assay.measure, ["true"], runs=6)) == "<assay.Study not started>"


def test_study_raises_the_error_of_its_function() -> None:
    with pytest.raises(assay.WorkloadFailedError, match="it fails"):
        assay.Study(failing).result()


def test_end_of_the_block_stops_the_study() -> None:
    begun = threading.Event()
    with assay.Study(until_stopped, begun) as study:
        assert begun.wait(10)
        assert study.running
        assert not study.wait(0.0)
    assert not study.running
    with pytest.raises(assay.StudyStopped):
        study.result()


def test_result_of_a_running_study_has_a_time_limit() -> None:
    with assay.Study(until_stopped, threading.Event()) as study, pytest.raises(TimeoutError):
        study.result(0.0)


def test_control_is_that_of_its_own_thread() -> None:
    assert assay.Study(lambda: CONTROL.get() is not None).result()
    assert CONTROL.get() is None


def test_second_study_of_a_process_is_refused() -> None:
    def second() -> None:
        with session({}):
            pass

    with single_study(), pytest.raises(assay.NotPossibleError, match="Another study"):
        assay.Study(second).result()
    assay.Study(second).result()


def test_study_is_awaitable() -> None:
    async def main() -> int:
        return await assay.Study(told, 4) + await assay.in_thread(told, 5)

    assert asyncio.run(main()) == 9


def test_ended_study_can_be_awaited() -> None:
    study = assay.Study(told, 4)
    assert study.result() == 4

    async def main() -> int:
        return await study

    assert asyncio.run(main()) == 4


def test_event_loop_runs_beside_a_study() -> None:
    async def main() -> None:
        begun = threading.Event()
        study = assay.Study(until_stopped, begun)
        task = asyncio.ensure_future(_await(study))
        while not begun.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not study.running

    asyncio.run(main())


async def _await(study: assay.Study[None]) -> None:
    await study


def test_error_of_an_awaited_study_is_raised() -> None:
    with pytest.raises(assay.WorkloadFailedError):
        asyncio.run(assay.in_thread(failing))


def test_interrupt_of_the_wait_says_that_the_study_still_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = threading.Event()

    def interrupted(timeout_s: float | None) -> bool:
        raise KeyboardInterrupt

    with assay.Study(until_stopped, begun) as study:
        with monkeypatch.context() as patched:
            patched.setattr(study, "wait", interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                study.result()
        assert caught.value.__notes__ == ["The study still runs: its method stop() ends it."]
        assert study.running


def test_awaited_study_wakes_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancellation from a signal handler does not wake the loop by itself."""
    monkeypatch.setattr("assay.api.functions.background.WAKE_INTERVAL_S", 0.01)

    async def main() -> None:
        loop, turns = asyncio.get_running_loop(), 0
        task = asyncio.ensure_future(_await(assay.Study(until_stopped, threading.Event())))
        select = loop._selector.select  # type: ignore[attr-defined]

        def counted(timeout: float | None) -> object:
            nonlocal turns
            turns += 1
            if turns == 20:
                task.cancel()
            return select(timeout)

        monkeypatch.setattr(loop._selector, "select", counted)  # type: ignore[attr-defined]
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_study_of_no_function_is_refused() -> None:
    with pytest.raises(assay.InvalidInputError, match=r"Give a function, such as assay\.tune"):
        assay.Study("tune")  # type: ignore[arg-type]
