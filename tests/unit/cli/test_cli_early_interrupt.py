"""Ctrl-C while assay is only loading."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import assay

SOURCE = Path(assay.__file__).parents[1]
ENV = {**os.environ, "PYTHONPATH": str(SOURCE)}

AT_A_MODULE = """
import signal, sys

class Finder:
    left = int(sys.argv.pop(1))

    def find_spec(self, name, path=None, target=None):
        if Finder.left == 0:
            signal.raise_signal(signal.SIGINT)
        Finder.left -= 1

from assay.__main__ import entry

sys.meta_path.insert(0, Finder())
entry()
"""
"""The signal comes when the module of a number is asked for, counted from the entry on."""


def interrupted(module: int, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", AT_A_MODULE, str(module), *(words or ("settings", "list"))]
    return subprocess.run(argv, env=ENV, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("module", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
def test_interrupt_while_any_module_is_loaded(module: int) -> None:
    done = interrupted(module)
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""


LOADED_LATE = """
import signal, sys

late = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        if signal.getsignal(signal.SIGINT) not in (signal.SIG_DFL, signal.default_int_handler):
            late.append(name)

from assay.__main__ import entry

sys.meta_path.insert(0, Finder())
sys.argv[0] = "assay"
try:
    entry()
finally:
    print(*late)
"""
"""Prints the modules that are asked for once signals are exceptions."""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--record", os.devnull),
        ("--with", "nice=1"),
        ("--with", "cache=cold"),
        ("--with", "malloc=jemalloc"),
        ("--with", "vm.swappiness=60"),
        ("--build", "cp /bin/true {build}/true"),
    ],
)
def test_all_that_a_run_needs_is_loaded_before_there_is_anything_to_clean_up(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    program = "{build}/true" if "--build" in words else "true"
    done = subprocess.run(
        [sys.executable, "-c", LOADED_LATE, "run", *words, "--", program],
        env={**ENV, "XDG_CACHE_HOME": str(tmp_path), "ASSAY_STATE": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == []
    assert "Traceback" not in done.stderr


def test_late_imports_are_detected() -> None:
    code = f"{LOADED_LATE}\nimport wave".replace("entry()", "signal.signal(2, print); import wave")
    assert (
        "wave"
        in subprocess.run(
            [sys.executable, "-c", code], env=ENV, capture_output=True, text=True, timeout=60
        ).stdout
    )


def test_the_last_of_them_is_within_the_loading() -> None:
    """Or the test above would be one of a process that had ended."""
    assert interrupted(10_000).returncode == 0


@pytest.mark.rotating
def test_at_many_moments_of_the_first_tenths_of_a_second() -> None:
    for number in range(40):
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", "settings", "list"],
            env=ENV,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(number * 0.005)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        # What the interpreter loads before it looks for assay interrupts itself in its own way.
        if str(SOURCE / "assay") in told or process.returncode not in (1, -signal.SIGINT):
            assert told == ""
            assert process.returncode in (0, 130, -signal.SIGINT)


AT_THE_END = """
import atexit, signal, sys

from assay.__main__ import entry

atexit.register(signal.raise_signal, signal.Signals[sys.argv.pop(1)])
entry()
"""
"""The signal comes when the work is done, and the interpreter ends."""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_after_all_is_done(name: str) -> None:
    argv = [sys.executable, "-c", AT_THE_END, name, "settings", "list", "--json"]
    done = subprocess.run(argv, env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.Signals[name]
    assert done.stderr == ""
    assert json.loads(done.stdout)
