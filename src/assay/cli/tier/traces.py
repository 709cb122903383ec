"""Traces of memory accesses, recorded in one run and used for prefetching in another."""

from __future__ import annotations

from pathlib import Path

from assay.errors import InvalidInputError
from assay.settings.tier import SWAP

_TRACES = "*.touches"


def trace_assignments(trace: str | None, replay: str | None, tier: str) -> list[str]:
    """Return the assignments that --trace and --replay are short for.

    Creates the folder of traces, if it is missing.

    Args:
        trace: directory that accesses are recorded to; ``None`` for none.
        replay: directory of a recorded trace; ``None`` for none.
        tier: backing store, as the value of ``mem.tier``.

    Raises:
        InvalidInputError: both options are given, the tier takes none of them, or the folder is
            not usable.
    """
    if trace is None and replay is None:
        return []
    if trace is not None and replay is not None:
        raise InvalidInputError(
            "--trace and --replay exclude each other.",
            "Record a trace with --trace DIR, then run again with --replay DIR.",
        )
    if tier == SWAP:
        raise InvalidInputError(
            "Only the pager records memory accesses, and this run advises on swap.",
            "Leave --trace and --replay out, or see `assay tier doctor` for the pager.",
        )
    if trace is not None:
        return [f"env.ASSAY_TIER_TRACE={_new_folder(trace)}"]
    assert replay is not None
    return [f"env.ASSAY_TIER_REPLAY={_recorded(replay)}"]


def _new_folder(name: str) -> Path:
    folder = Path(name).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(_TRACES):
            old.unlink()
    except OSError as error:
        raise InvalidInputError(
            f"--trace {name} cannot be written: {error.strerror}.", "Name another folder."
        ) from error
    return folder


def _recorded(name: str) -> Path:
    folder = Path(name).absolute()
    if not any(folder.glob(_TRACES)):
        raise InvalidInputError(
            f"--replay {name} contains no trace.", "Record one with `assay tier run --trace DIR`."
        )
    return folder
