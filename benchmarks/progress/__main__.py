"""Command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import os
import time

from benchmarks.overhead.surroundings import machine

from .writers import at_1000_per_s, calls


def main() -> None:
    """Measure the writers and print the result as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.progress", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smoke test: one short run of each")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each program (default: 10)")
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="length of a run, in seconds (default: 5)"
    )
    arguments = parser.parse_args()
    rounds, seconds = (1, 0.5) if arguments.quick else (arguments.rounds, arguments.seconds)
    document = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "load_average": os.getloadavg()[0],
        "call_us": calls(rounds),
        "core_percent_at_1000_per_s": at_1000_per_s(rounds, seconds),
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
