"""Processes of the user that run trials: endings and notes."""

from __future__ import annotations

from assay.units import show_count


def process_count(number: int) -> str:
    """Return a number of processes as text: ``6 processes``."""
    return show_count(number, "process", "processes")


def _more(number: int) -> str:
    return show_count(number, "more process", "more processes")


def successive_failures(number: int) -> str:
    """Return the failure of an arm as a predicate."""
    return f"gave no value in {number} successive trials"


def search_over_ending(winner: str, needed: int) -> str:
    """Return the ending of a process whose trials selected the winner.

    Args:
        winner: name of the winner.
        needed: smallest number of further processes of a claim.
    """
    return (
        f"The search is over. A claim on {winner} needs trials of {_more(needed)}: "
        "the process that selected it does not count."
    )


def process_spent_ending(needed: int) -> str:
    """Return the ending of a process whose budget is spent.

    Args:
        needed: smallest number of further processes of a claim.
    """
    if not needed:
        return "The budget of this process is spent."
    return f"The budget of this process is spent. A claim needs {_more(needed)}."


def unit_note(processes: int, needed: int) -> str:
    """Return the note on the unit of the statistics.

    Args:
        processes: number of processes with a complete block of confirmation.
        needed: smallest number of further processes of a claim.
    """
    confirmed = process_count(processes) if processes else "No process"
    note = (
        "Trials of one process share its warm-up, caches and memory layout, so each process counts "
        f"as one block. {confirmed} confirmed the result."
    )
    if not needed:
        return note
    return (
        f"{note} A claim needs at least {_more(needed)}; the expected effect does not "
        "include differences between processes."
    )


def continuation(study_id: str) -> str:
    """Return how the next process continues a study."""
    return f'assay.Session(study="{study_id}") continues it in the next process'
