"""Whom a signal during `assay run` reaches; with real programs in tests/system."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from assay.cli.parsing.parser import parse
from assay.cli.process import signal_relay as relaying
from assay.cli.process.signal_relay import SignalRelay
from assay.cli.process.termination import Terminated, termination_handler

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Passing:
    """Launch that receives signals, and ends when its end of a pipe is closed."""

    def __init__(self, until: int = 1) -> None:
        self.passed: list[int] = []
        self._until = until
        self.pidfd, self._writing = os.pipe()

    def forward_signal(self, number: int) -> None:
        self.passed.append(number)
        if len(self.passed) == self._until:
            self.end()

    def end(self) -> None:
        os.close(self._writing)

    def stopped_with_program(self) -> bool:
        return False

    def resume(self) -> None:
        raise AssertionError("it was never stopped")


@pytest.fixture(autouse=True)
def handler() -> Iterator[Callable[..., None]]:
    """As the command line sets it."""
    handler = termination_handler()
    before = {number: signal.signal(number, handler) for number in NUMBERS}
    yield handler
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "DELIVERY_S", 0.0)


@pytest.mark.parametrize("number", NUMBERS)
def test_first_signal_goes_to_the_program_and_a_second_ends_it(
    number: signal.Signals, handler: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaying, "GROUP_S", 0.0)
    running = Passing()
    with pytest.raises((KeyboardInterrupt, Terminated)) as end, SignalRelay() as relay:
        send(number)
        relay.serve(running)  # type: ignore[arg-type]
        assert running.passed == [number]
        send(number)
        pytest.fail("the second was left as well")
    assert running.passed == [number]
    assert (end.type is KeyboardInterrupt) == (number == signal.SIGINT)
    assert {signal.getsignal(n) for n in NUMBERS} == {handler}


@pytest.mark.parametrize("second", NUMBERS)
def test_companion_of_the_first_signal_is_no_second(
    second: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from timeout(1), which signals its child and then the child's group, or from systemd."""
    monkeypatch.setattr(relaying, "GROUP_S", 60.0)
    running = Passing()
    with SignalRelay() as relay:
        send(signal.SIGTERM)
        send(second)
        relay.serve(running)  # type: ignore[arg-type]
        send(second)
    assert running.passed == [signal.SIGTERM]


def test_other_signals_are_passed_on_each_time_that_they_come() -> None:
    running = Passing(until=3)
    with SignalRelay() as relay:
        for number in (signal.SIGUSR1, signal.SIGUSR1, signal.SIGRTMIN):
            send(number)
        relay.serve(running)  # type: ignore[arg-type]
    assert sorted(running.passed) == sorted((signal.SIGUSR1, signal.SIGUSR1, signal.SIGRTMIN))


@pytest.mark.parametrize("number", NUMBERS)
def test_signal_that_was_ignored_stays_so_until_the_program_has_inherited_that(
    number: signal.Signals,
) -> None:
    """A shell starts background work so, and nohup(1) what is to stay."""
    signal.signal(number, signal.SIG_IGN)
    with SignalRelay():
        send(number)
        assert signal.getsignal(number) is signal.SIG_IGN
    assert signal.getsignal(number) is signal.SIG_IGN


@pytest.mark.parametrize("ignored", [signal.SIGHUP, signal.SIGINT])
def test_signal_that_was_ignored_is_passed_on_and_is_no_first(
    ignored: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under nohup(1) the SIGTERM that follows the end of a terminal is left to the program."""
    monkeypatch.setattr(relaying, "GROUP_S", 0.0)
    monkeypatch.setattr(relaying, "POLL_S", 0.05)
    signal.signal(ignored, signal.SIG_IGN)
    wanted = [signal.SIGUSR1, ignored, ignored, signal.SIGTERM]

    class Following(Passing):
        """Each signal is followed by the next one, which so comes while the launch is served."""

        def forward_signal(self, number: int) -> None:
            super().forward_signal(number)
            for following in wanted[len(self.passed) : len(self.passed) + 1]:
                send(following)

        looks = 0

        def resume_if_stopped(self) -> bool:
            self.looks += 1
            assert self.looks < 100, f"a signal was kept back after {self.passed}"
            return False

    running = Following(until=len(wanted))
    with SignalRelay() as relay:
        send(wanted[0])
        relay.serve(running)  # type: ignore[arg-type]
    assert running.passed == wanted
    assert signal.getsignal(ignored) is signal.SIG_IGN


@pytest.mark.parametrize("verb", ["run", "measure"])
def test_run_and_measure_take_settings_alike(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    parsed = parse([verb, "--with", "nice=3", "env.A=b", "--with", "threads=2", "--", "true"])
    assert parsed.arguments.assignments == ["nice=3", "env.A=b", "threads=2"]
    with pytest.raises(SystemExit):
        parse([verb, "--help"])
    assert "setting of the launch, such as threads=4" in capsys.readouterr().out
