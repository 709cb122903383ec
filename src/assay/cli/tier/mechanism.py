"""Choice between the pager and the advisor for ``assay tier run``."""

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
    """Return the backing store as a value of ``mem.tier``; prints why the pager is not used.

    Raises:
        InvalidInputError: an option is missing or not applicable.
        NotPossibleError: neither the pager nor the advisor is available.
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
            "Leave it out: the advisor uses the kernel's swap.",
        )
    if arguments.how != "advisor" and not arguments.path:
        raise InvalidInputError(
            "`assay tier run` needs --path.",
            "Write --path, as in --path /mnt/nvme, or --how advisor, which needs no path.",
        )


def _probed() -> Probe | None:
    """Return the capabilities of this host without paths; ``None`` without the tier's programs."""
    try:
        return probe(os.environ)
    except NotPossibleError:  # the setting reports it
        return None


def _advised(found: Probe) -> str:
    lack = advisor_finding(found)
    if lack is not None:
        raise NotPossibleError(f"The advisor is not available: {lack.problem}.", lack.remedy)
    return SWAP


def _best(found: Probe, arguments: argparse.Namespace) -> str:
    lack = next((one for one in findings(found) if one.fatal), None)
    if lack is None:
        return str(arguments.path)
    none = advisor_finding(found)
    if none is not None:
        raise NotPossibleError(
            f"The pager is not available: {lack.problem}. Neither is the advisor: {none.problem}.",
            f"{lack.remedy} Or: {none.remedy}",
        )
    if not arguments.quiet:
        lines = (
            f"advising on swap instead of using {arguments.path}: {lack.problem}.",
            f"for the pager: {lack.remedy}",
        )
        for line in lines:
            print(f"assay: {clean(line)}", file=sys.stderr)
    return SWAP
