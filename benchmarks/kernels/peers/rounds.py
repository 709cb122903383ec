"""Rounds, each of which runs every way once, so that a disturbance affects all ways."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

Step = Callable[[], object]
Way = Callable[[], float]
"""Function that does the work and returns its duration in seconds."""


@dataclass(frozen=True)
class Native:
    """Program of a kernel, its variants and the options of the work."""

    program: Path
    variants: Sequence[str]
    options: Sequence[object]

    def available(self) -> list[str]:
        """Return the available variants; print the reason why others are not available."""
        missing = {
            one["variant"]: one.get("unavailable") for one in self._output("--describe")["variants"]
        }
        for name in self.variants:
            if missing[name]:
                print(f"not available: {name} ({missing[name]})", file=sys.stderr)
        return [name for name in self.variants if not missing[name]]

    def seconds(self, variant: str) -> float:
        """Return the time of one repetition after a warm-up, in seconds."""
        return float(self._output("--variant", variant, "--seconds", 0)["median_s"])

    def _output(self, *words: object) -> dict[str, Any]:
        command = [str(self.program), *map(str, words), *map(str, self.options)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        output: dict[str, Any] = json.loads(done.stdout)
        return output


def arguments(description: str, variants: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program", type=Path, help="assay-kernel-NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print all times in seconds, as JSON")
    parser.add_argument("--variants", nargs="*", default=list(variants))
    return parser


def timed(step: Step) -> float:
    """Return the seconds of one step."""
    begun = time.perf_counter()
    step()
    return time.perf_counter() - begun


def clocked(steps: Mapping[str, Step]) -> dict[str, Way]:
    """Turn steps into functions that return their time."""
    return {name: partial(timed, step) for name, step in steps.items()}


def race(others: Mapping[str, Way], native: Native, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each way in each round; the order rotates between rounds."""
    ways: dict[str, Way] = {
        **others,
        **{name: partial(native.seconds, name) for name in native.available()},
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            times[name].append(ways[name]())
    return times


def report(
    times: dict[str, list[float]], first: str, show: Callable[[float], str], as_json: bool = False
) -> None:
    """Print the best and the median time of each, and its speed relative to the first.

    The ratio is the median of the ratios within a round.

    Args:
        times: seconds of each round, by name.
        first: name of the reference.
        show: formats a time.
        as_json: print ``times`` instead, on one line.
    """
    if as_json:
        print(json.dumps(times), flush=True)
        return
    for library in threadpool_info():
        print(*(f"{key} {library[key]}" for key in sorted(library) if key in SHOWN), sep=", ")
    for name, taken in times.items():
        ratio = statistics.median(a / b for a, b in zip(times[first], taken, strict=True))
        best, middle = show(min(taken)), show(statistics.median(taken))
        print(f"{name:34} best {best}  median {middle}  {ratio:7.2f} of {first}")
    sys.stdout.flush()


SHOWN = ("internal_api", "version", "architecture", "num_threads")
"""Facts of each library to print; an environment variable may have set its core type."""
