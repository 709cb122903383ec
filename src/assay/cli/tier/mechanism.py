"""Choice: who keeps a program's large memory within its DRAM, the pager or the advisor."""

from __future__ import annotations

import argparse
import os
import sys

from assay.errors import InvalidInputError, NotPossibleError
from assay.settings.tier import SWAP
from assay.tier.doctor import advisor_finding, findings
from assay.tier.probe import Probe, probe
from assay.untrusted import clean


def choose_tier(arguments: argparse.Namespace) -> str:
    """What stands behind memory, as the setting has it; where it is second best, that is told.

    Raises:
        InvalidInputError: an option is missing, or one too many.
        NotPossibleError: neither can be had here.
    """
    _demand_words(arguments)
    if arguments.how == "pager":
        return str(arguments.path)
    found = _probed()
    if found is None:
        return str(arguments.path or SWAP)
    return _advised(found) if arguments.how == "advisor" else _best(found, arguments)


def _demand_words(arguments: argparse.Namespace) -> None:
    if not arguments.dram:
        raise InvalidInputError("`assay tier run` needs --dram.", "Write --dram, as in --dram 8G.")
    if arguments.how == "advisor" and arguments.path:
        raise InvalidInputError(
            "`assay tier run --how advisor` takes no --path.",
            "Leave it out: the kernel's swap stands behind memory then.",
        )
    if arguments.how != "advisor" and not arguments.path:
        raise InvalidInputError(
            "`assay tier run` needs --path.",
            "Write --path, as in --path /mnt/nvme, or --how advisor, which takes none.",
        )


def _probed() -> Probe | None:
    """Not the paths, of which the pager tells itself; none where nothing was built."""
    try:
        return probe(os.environ)
    except NotPossibleError:  # which the setting tells
        return None


def _advised(found: Probe) -> str:
    lack = advisor_finding(found)
    if lack is not None:
        raise NotPossibleError(f"Swap cannot be advised here: {lack.problem}.", lack.remedy)
    return SWAP


def _best(found: Probe, arguments: argparse.Namespace) -> str:
    lack = next((one for one in findings(found) if one.fatal), None)
    if lack is None:
        return str(arguments.path)
    none = advisor_finding(found)
    if none is not None:
        raise NotPossibleError(
            f"There is no tier here: {lack.problem}; and for advice, {none.problem}.",
            f"{lack.remedy} Or: {none.remedy}",
        )
    if not arguments.quiet:
        told = (
            f"swap is advised, and {arguments.path} is not used, as {lack.problem}.",
            f"for the pager: {lack.remedy}",
        )
        for line in told:
            print(f"assay: {clean(line)}", file=sys.stderr)
    return SWAP
