"""Whom a signal during `assay run` reaches; with real programs in tests/system."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from assay.cli.ending import Terminated, ending
from assay.cli.parser import parse
from assay.cli.verbs import run as run_verb
from assay.cli.verbs.run import _signals_left

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Passing:
    """The part of a running launch that is told of signals."""

    def __init__(self) -> None:
        self.passed: list[int] = []

    def pass_on(self, number: int) -> None:
        self.passed.append(number)


@pytest.fixture(autouse=True)
def handler() -> Iterator[Callable[..., None]]:
    """As the command line sets it."""
    handler = ending()
    before = {number: signal.signal(number, handler) for number in NUMBERS}
    yield handler
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_goes_to_the_program_and_the_second_ends_it(
    number: signal.Signals, handler: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_verb, "SAME_S", 0.0)
    running = Passing()
    with pytest.raises((KeyboardInterrupt, Terminated)) as end, _signals_left() as leave_to:
        leave_to(running)  # type: ignore[arg-type]
        send(number)
        assert running.passed == [number]
        send(number)
        pytest.fail("the second was left as well")
    assert running.passed == [number]
    assert (end.type is KeyboardInterrupt) == (number == signal.SIGINT)
    assert {signal.getsignal(n) for n in NUMBERS} == {handler}


@pytest.mark.parametrize("number", NUMBERS)
def test_one_that_comes_before_the_start_is_known_here_is_the_programs_too(
    number: signal.Signals,
) -> None:
    running = Passing()
    with _signals_left() as leave_to:
        send(number)
        send(number)  # a companion
        assert running.passed == []
        leave_to(running)  # type: ignore[arg-type]
        send(number)
    assert running.passed == [number]


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGHUP])
def test_a_companion_of_the_first_is_no_second(
    second: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from timeout(1), which signals its child and then the child's group, or from systemd."""
    running = Passing()
    monkeypatch.setattr("assay.cli.verbs.run.time.sleep", lambda s: send(second))
    with _signals_left() as leave_to:
        leave_to(running)  # type: ignore[arg-type]
        send(signal.SIGTERM)
        send(second)
    assert running.passed == [signal.SIGTERM]


@pytest.mark.parametrize("number", NUMBERS)
def test_where_it_was_ignored_it_still_is(number: signal.Signals) -> None:
    """A shell starts background work so, and nohup(1) what is to stay; the program inherits it."""
    running = Passing()
    signal.signal(number, signal.SIG_IGN)
    with _signals_left() as leave_to:
        leave_to(running)  # type: ignore[arg-type]
        send(number)
        assert signal.getsignal(number) is signal.SIG_IGN
    assert running.passed == []


@pytest.mark.parametrize("verb", ["run", "measure"])
def test_a_single_configuration_is_given_alike(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = parse([verb, "--with", "nice=3", "env.A=b", "--with", "threads=2", "--", "true"])
    assert parsed.arguments.assignments == ["nice=3", "env.A=b", "threads=2"]
    with pytest.raises(SystemExit):
        parse([verb, "--help"])
    assert "a setting of the launch; several may follow" in capsys.readouterr().out
