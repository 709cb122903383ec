"""Description and check of machines with many CPUs."""

from __future__ import annotations

from pathlib import Path

from assay.testing.large_machine import write_large_machine

from .cost import command_cost

ROUNDS = 3


def measure(size: int, folder: Path, rounds: int = ROUNDS) -> dict[str, float]:
    """Show and check a synthetic machine; the smallest of some rounds counts.

    Args:
        size: number of CPUs, a multiple of 16.
        folder: folder for its files.
        rounds: number of rounds.
    """
    root = write_large_machine(folder / "machine", size)
    costs = {
        action: [command_cost(["machine", action, "--root", str(root)]) for _ in range(rounds)]
        for action in ("show", "check")
    }
    found = {action: min(cost.cpu_s for cost in own) for action, own in costs.items()}
    return found | {"memory": max(cost.peak_mb for own in costs.values() for cost in own)}
