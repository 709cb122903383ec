"""Exit statuses of every verb, for the reference pages and the manual pages."""

from __future__ import annotations

from collections.abc import Iterator

MEASURING = ("tune", "measure", "compare", "sweep", "study", "case")
"""Verbs that measure studies or read them from the store."""
LAUNCHES = "The workload failed in every launch, or `--fail-if` applies."
OF_ONE = {
    "tune": "The workload failed in every launch.",
    "measure": LAUNCHES,
    "compare": LAUNCHES,
    "sweep": "The workload failed in every launch.",
    "study": "`verify`: the bundle is not valid. `compare`: `--fail-if` applies. "
    "`resume`, `confirm`, `calibrate`: the workload failed in every launch.",
    "machine": "`check`: a check failed. `apply`: the kernel refused a part of the profile. "
    "`restore`: a value differs from the one before.",
    "partition": "`list`: a partition is not in force, or its broker ended. "
    "`start`, `delete`: a value differs from the one before.",
    "case": "The workload failed in every launch.",
    "tier": "`doctor`: the directories cannot be used as memory.",
}
"""Meaning of status 1, by verb."""
TRANSPARENT = "run"
PAUSES = ("tune", "compare", "sweep", "study")
NOT_POSSIBLE = "Not permitted or not possible on this machine; the message names the remedy."
SIGNALS = {
    "129, 130, 143": "Ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM.",
    "141": "The reader of the output closed it, as `head -1` does.",
}


def statuses(verb: str) -> Iterator[tuple[str, str]]:
    """Yield each exit status of a verb with its meaning."""
    if verb == TRANSPARENT:
        yield from {
            "0 to 255": "Exit status of the program; a signal that ended it is raised again.",
            "125": "assay failed before or after the program; the message names the remedy.",
            "126": "The program cannot be executed.",
            "127": "The program was not found.",
        }.items()
        return
    measuring = verb in MEASURING
    yield "0", "Success, with any verdict." if measuring else "Success."
    if verb in OF_ONE:
        yield "1", OF_ONE[verb]
    yield "2", _input(verb)
    yield "3", f"{NOT_POSSIBLE} Also: {_obstacles(verb)}."
    if verb in PAUSES:
        yield "4", "The study is paused: it waits for another boot."
    yield "70", "Internal error; `-v` shows the traceback."
    for status, meaning in SIGNALS.items():
        yield status, f"{meaning} The study is kept." if measuring else meaning
    if verb == "tier":
        yield "`run`", "Same as `assay run`."


def _input(verb: str) -> str:
    """Return the meaning of status 2."""
    if verb in MEASURING:
        return "Invalid input, command not found, or a metric that is missing from the output."
    if verb == "tier":
        return "Invalid input, or command not found."
    return "Invalid input."


def _obstacles(verb: str) -> str:
    """Return the causes of status 3 that do not depend on the machine."""
    if verb in MEASURING:
        return "budget too small for a claim, disk full, store locked or damaged"
    if verb in ("machine", "report"):
        return "disk full, store locked or damaged"
    return "disk full"


def table(verb: str) -> str:
    """Return the exit statuses of a verb as a Markdown table."""
    rows = (f"| {status} | {meaning} |" for status, meaning in statuses(verb))
    return "\n".join(["| status | meaning |", "|---|---|", *rows])
