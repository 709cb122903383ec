"""Choice: who keeps a program's large memory within its DRAM, the pager or the advisor."""

from __future__ import annotations

import argparse
import os
import sys

from assay.errors import BadInput, NotPossible
from assay.tier.doctor import Finding, findings
from assay.tier.probe import probe
from assay.tier.swap import NO_SWAP, how_to_swap, read_swap
from assay.untrusted import clean


def settings_of(arguments: argparse.Namespace) -> list[str]:
    """The settings of ``tier run``; none where it can do nothing for the program, which is said.

    Raises:
        BadInput: an option is missing.
    """
    if not arguments.dram:
        raise BadInput("`assay tier run` needs --dram.", "Write --dram, as in --dram 8G.")
    if arguments.how != "advisor":
        if not arguments.path:
            raise BadInput(
                "`assay tier run` needs --path.",
                "Write --path, as in --path /mnt/nvme, or --how advisor, which needs none.",
            )
        lack = None if arguments.how == "pager" else _lack()
        if lack is None:
            return [f"mem.dram={arguments.dram}", f"mem.tier={arguments.path}"]
        _tell(arguments, f"the pager cannot be used, so swap is advised: {lack.problem}.")
        _tell(arguments, f"for the pager: {lack.remedy}")
    if not read_swap().active:
        _tell(arguments, f"{NO_SWAP}, so the program runs as it does without.")
        _tell(arguments, how_to_swap(arguments.path))
        return []
    return [f"mem.dram={arguments.dram}", "mem.tier=swap"]


def _lack() -> Finding | None:
    """The gravest that keeps this user from the pager; of paths it tells itself."""
    try:
        found = probe(os.environ)
    except NotPossible:  # it was not built, which the setting tells
        return None
    return next((one for one in findings(found) if one.fatal), None)


def _tell(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.quiet:
        print(f"assay: {clean(text)}", file=sys.stderr)
