"""Groups of options that the verbs of studies share: budget, decision, gate and files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.api.options.study_options import budget_or_default, parse_budget, parse_disturbed_above
from assay.cli.files.output_file import output_path
from assay.records import Budget

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed

EXPORT_SUFFIXES = (".md", ".csv", ".json")


def given_budget_of(arguments: argparse.Namespace) -> Budget:
    """Return the budget of the command line; without limits if none is given.

    Raises:
        InvalidInputError: an invalid duration, or an invalid number of launches.
    """
    return parse_budget(arguments.budget, arguments.runs)


def budget_of(arguments: argparse.Namespace) -> Budget:
    """Return the budget of the command line; ten minutes if none is given.

    Raises:
        InvalidInputError: an invalid duration, or an invalid number of launches.
    """
    return budget_or_default(given_budget_of(arguments))


def disturbed_above_of(arguments: argparse.Namespace) -> float | None:
    """Return the CPU share above which a block is disturbed; ``None`` for no such share.

    Raises:
        InvalidInputError: an invalid share.
    """
    return parse_disturbed_above(arguments.disturbed_above, os.environ)


def export_paths(parsed: Parsed) -> tuple[Path, ...]:
    """Return the files of ``--export``, checked before the first launch.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    texts: list[str] = parsed.arguments.export
    return tuple(output_path("--export", text, EXPORT_SUFFIXES) for text in texts)
