"""Whom a Ctrl-C during `assay run` reaches; with real programs in tests/system."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.cli.parser import parse
from assay.cli.verbs.run import _interrupt_left_to


class Passing:
    """The part of a running launch that is told of an interrupt."""

    def __init__(self) -> None:
        self.passed = 0

    def pass_interrupt(self) -> None:
        self.passed += 1


@contextmanager
def disposition(handler: signal.Handlers | object) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_goes_to_the_program_and_the_second_ends_it() -> None:
    running = Passing()
    with disposition(signal.default_int_handler):
        with pytest.raises(KeyboardInterrupt), _interrupt_left_to(running):  # type: ignore[arg-type]
            interrupt()
            assert running.passed == 1
            interrupt()
            pytest.fail("the second was left as well")
        assert running.passed == 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_copy_of_the_first_is_no_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from timeout(1), which signals its child and then the child's group."""
    running = Passing()
    with disposition(signal.default_int_handler):
        monkeypatch.setattr("assay.cli.verbs.run.time.sleep", lambda s: interrupt())
        with _interrupt_left_to(running):  # type: ignore[arg-type]
            interrupt()
    assert running.passed == 1


def test_where_it_was_ignored_it_still_is() -> None:
    """A shell starts background work so, and the program inherits it."""
    running = Passing()
    with disposition(signal.SIG_IGN), _interrupt_left_to(running):  # type: ignore[arg-type]
        interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert running.passed == 0


@pytest.mark.parametrize("verb", ["run", "measure"])
def test_a_single_configuration_is_given_alike(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = parse([verb, "--with", "nice=3", "env.A=b", "--with", "threads=2", "--", "true"])
    assert parsed.arguments.assignments == ["nice=3", "env.A=b", "threads=2"]
    with pytest.raises(SystemExit):
        parse([verb, "--help"])
    assert "a setting of the launch; several may follow" in capsys.readouterr().out
