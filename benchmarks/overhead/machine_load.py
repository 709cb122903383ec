"""Load of the machine during a benchmark, as text for its page."""

from __future__ import annotations

from typing import Any

BUSY_SHARE = 0.1
"""Largest share of the CPU time that other processes use before a run on a quiet machine."""
BUSY_LOAD = 0.5
"""Largest load average before a run on a quiet machine, for results without the share."""
_SHARES = {"steal_share": "was stolen by the hypervisor", "idle_share": "was idle"}


def is_busy(document: dict[str, Any]) -> bool:
    """Return whether other processes kept the machine busy."""
    load = document["load"]
    share: float | None = load.get("busy_before_share")
    before: float = load["load_before"][0]
    return before > BUSY_LOAD if share is None else share > BUSY_SHARE


def load_words(document: dict[str, Any]) -> str:
    """Return sentences on the load average before and during the run."""
    load = document["load"]
    before = ", ".join(f"{value:.2f}" for value in load["load_before"])
    rounds = load["load_1min"]
    return (
        f"Load average before the run (1, 5, 15 minutes): {before}. During the run, including its "
        f"own launches: {min(rounds):.2f} to {max(rounds):.2f}."
    )


def use_words(document: dict[str, Any]) -> str:
    """Return sentences on the duration of the run and the use of the CPU time."""
    load = document["load"]
    parts = [f"{load[key] * 100:.1f} % {text}" for key, text in _SHARES.items() if key in load]
    lines = [f"The run took {load['took_s']:.0f} s."]
    if parts:
        lines.append(f"Of the CPU time, {' and '.join(parts)}.")
    if "cpu_pressure_share" in load:
        waited = f"{load['cpu_pressure_share'] * 100:.0f} %"
        lines.append(f"During {waited} of the run, a process waited for a CPU.")
    return " ".join(lines)


def load_cells(document: dict[str, Any]) -> tuple[str, ...]:
    """Return cells of a table: CPU use and load before, load meanwhile, duration, and shares."""
    load = document["load"]
    rounds = load["load_1min"]
    shares = (f"{load[key] * 100:.1f} %" if key in load else "unknown" for key in _SHARES)
    meanwhile = f"{min(rounds):.2f} to {max(rounds):.2f}"
    share = load.get("busy_before_share")
    used = "unknown" if share is None else f"{share * 100:.0f} %"
    return used, f"{load['load_before'][0]:.2f}", meanwhile, f"{load['took_s']:.0f} s", *shares
