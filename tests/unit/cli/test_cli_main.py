"""Unexpected errors."""

from __future__ import annotations

import signal

import pytest

from assay.cli.main import INTERNAL_ERROR, OWN_ERROR, main
from assay.cli.process.termination import (
    Terminated,
    terminate_at_once,
    terminate_in_order,
    termination_handler,
)
from assay.cli.verbs import run as run_verb
from assay.cli.verbs import settings as settings_verb


def broken(parsed: object) -> int:
    raise RuntimeError("a hole\x1b[31m")


@pytest.mark.parametrize(
    ("module", "words", "status"),
    [(settings_verb, ["settings"], INTERNAL_ERROR), (run_verb, ["run", "--", "true"], OWN_ERROR)],
)
def test_a_fault_is_one_message(
    module: object,
    words: list[str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "run", broken)
    assert main(words) == status
    told = capsys.readouterr().err
    assert "RuntimeError: a hole\\x1b[31m" in told
    assert "Traceback" not in told
    assert "\x1b" not in told


def test_verbose_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_verb, "run", broken)
    with pytest.raises(RuntimeError):
        main(["settings", "-v"])


def test_ignored_signals_remain_ignored() -> None:
    """Under nohup(1) the end of a terminal ends nothing, and a shell's background no Ctrl-C."""
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
    before = {n: signal.getsignal(n) for n in numbers}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        terminate_at_once()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        terminate_in_order()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        terminate_at_once()
        terminate_in_order()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGTERM, Terminated),
        (signal.SIGHUP, Terminated),
    ],
)
def test_signals_that_come_together_are_one(
    number: signal.Signals, kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cleaning up is not cut off by the second of them; by one that comes later it is."""
    now_s = 100.0
    ended: list[int] = []
    monkeypatch.setattr("assay.cli.process.termination.time.monotonic", lambda: now_s)
    monkeypatch.setattr("assay.cli.process.termination.signal.signal", lambda number, handler: None)
    monkeypatch.setattr("assay.cli.process.termination.signal.raise_signal", ended.append)
    handler = termination_handler()
    with pytest.raises(kind):
        handler(number, None)
    for other in (signal.SIGTERM, signal.SIGINT, number):
        handler(other, None)
    assert ended == []
    now_s += 1.5
    with pytest.raises(Terminated):
        handler(signal.SIGTERM, None)
    handler(signal.SIGTERM, None)
    assert ended == []
    now_s += 1.5
    with pytest.raises(Terminated):  # only since it is not really raised here
        handler(signal.SIGTERM, None)
    assert ended == [signal.SIGTERM]
