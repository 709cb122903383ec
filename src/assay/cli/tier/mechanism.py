"""Choice between the pager and the advisor for ``assay tier run``."""

from __future__ import annotations

import os
import sys

from assay.errors import NotPossibleError
from assay.requests.tier import TierRunRequest
from assay.settings.tier import SWAP
from assay.tier.doctor import advisor_finding, findings
from assay.tier.probe import Probe, probe
from assay.untrusted import clean


def choose_tier(request: TierRunRequest, *, quiet: bool) -> str:
    """Return the backing store as a value of ``mem.tier``.

    Args:
        request: launch with a tier.
        quiet: do not print why the pager is not used.

    Raises:
        NotPossibleError: neither the pager nor the advisor is available.
    """
    if request.how == "pager":
        return str(request.path)
    found = _probed()
    if found is None:
        return request.path or SWAP
    return _advised(found) if request.how == "advisor" else _best(found, request.path, quiet=quiet)


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


def _best(found: Probe, path: str | None, *, quiet: bool) -> str:
    lack = next((one for one in findings(found) if one.fatal), None)
    if lack is None:
        return str(path)
    none = advisor_finding(found)
    if none is not None:
        raise NotPossibleError(
            f"The pager is not available: {lack.problem}. Neither is the advisor: {none.problem}.",
            f"{lack.remedy} Or: {none.remedy}",
        )
    if not quiet:
        lines = (
            f"advising on swap instead of using {path}: {lack.problem}.",
            f"for the pager: {lack.remedy}",
        )
        for line in lines:
            print(f"assay: {clean(line)}", file=sys.stderr)
    return SWAP
