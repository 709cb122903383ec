"""``assay tier run``: launch of a command with the settings of a tier."""

from __future__ import annotations

import msgspec

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.tier import tier_run_request
from assay.cli.parsing.parser import Parsed
from assay.cli.tier.free_space import free_space_assignments
from assay.cli.tier.mechanism import choose_tier
from assay.cli.tier.traces import trace_assignments
from assay.cli.verbs import run as launching
from assay.requests.run import RunRequest
from assay.requests.tier import TierRunRequest


def run_with_tier(parsed: Parsed) -> int:
    """Launch the command; return its exit status.

    Raises:
        InvalidInputError: an option is missing or invalid.
        NotPossibleError: neither the pager nor the advisor is available.
    """
    request, options = tier_run_request(parsed), common_options(parsed)
    return launching.run_command(_with_tier(request, options), options)


def _with_tier(request: TierRunRequest, options: CommonOptions) -> RunRequest:
    """Return the launch with the settings that the options of the tier stand for."""
    tier = choose_tier(request, quiet=options.quiet)
    settings = (
        f"mem.dram={request.dram}",
        f"mem.tier={tier}",
        *([f"mem.numa={request.numa}"] if request.numa else []),
        *free_space_assignments(request.keep_free, tier),
        *trace_assignments(request.trace, request.replay, tier),
        *request.run.settings,
    )
    return msgspec.structs.replace(request.run, settings=settings)
