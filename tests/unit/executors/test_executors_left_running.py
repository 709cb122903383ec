"""Processes that hooks started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from assay.executors.evidence.other_processes import describe_process
from assay.executors.hooks.left_running import (
    HOOK_VARIABLE,
    is_started_by_hook,
    left_running,
    new_mark,
)
from assay.noise.driver import ProcessUsage

MARK = new_mark()


@pytest.fixture
def hooked() -> Iterator[int]:
    env = {**os.environ, HOOK_VARIABLE: MARK}
    with subprocess.Popen(["sleep", "60"], env=env) as process:
        yield process.pid
        process.kill()


def test_process_of_a_hook_is_found_by_its_mark(hooked: int) -> None:
    assert left_running(MARK, patience_s=0.0) == [f"sleep (process {hooked})"]
    assert left_running(new_mark(), patience_s=0.0) == []


def test_disturber_that_a_hook_started_is_named_as_such(hooked: int) -> None:
    assert (
        describe_process(ProcessUsage(hooked, "sleep", 0, 1.0))
        == f"sleep (process {hooked}, started by a hook)"
    )
    assert not is_started_by_hook(os.getpid())
    assert not is_started_by_hook(2**22 + 1)
