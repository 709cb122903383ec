"""Studies of a program that reports values: its command line, and their stored samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from command_line import CommandLine

JOB = (sys.executable, str(Path(__file__).with_name("reporting_job.py")))
SPEED = ("--progress", r"sps=step (?P<step>\d+) sps: (?P<value>[-+.\w]+)", "--goal", "sps=higher")
SHORT = ("--until", "steady:20")
STEPS = 2000
"""Steps of a whole program, which takes 20 s."""


def of_stage(cli: CommandLine, *stages: str) -> list[dict[str, Any]]:
    """Return the stored samples of stages."""
    return [sample for sample in cli.documents() if sample["launch"]["stage"] in stages]


def assert_ended_early(cli: CommandLine, launches: int, name: str = "sps") -> None:
    """Assert that all launches ended by their rule, with a steady part and a series."""
    samples = cli.documents()
    assert len(samples) == launches
    for sample in samples:
        assert sample["outcome"] == "enough"
        assert sample["metrics"][name] > 0.0
        assert sample["steady"][name]["end_step"] < STEPS
        assert 3 <= len(sample["series"][name]["steps"]) <= 256
    for sample in samples:
        if "steady_steps" not in sample["launch"]["end"]:
            continue  # a first look
        part = sample["steady"][name]
        assert 2 < part["end_step"] - part["begin_step"] <= 23
