"""Options of a workload: metrics, launches and build."""

from __future__ import annotations

import argparse
from typing import Any

from assay.api.options.command_words import build_words
from assay.api.options.recipe import build_request
from assay.api.options.workload_options import WorkloadOptions
from assay.requests.workload import BuildRequest


def workload_options(arguments: argparse.Namespace) -> WorkloadOptions:
    """Return the texts of the options that describe a workload."""
    texts: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in WorkloadOptions.__struct_fields__
    }
    return WorkloadOptions(**texts, compares=arguments.verb != "measure")


def build_of(arguments: argparse.Namespace) -> BuildRequest | None:
    """Return the build of a verb without the options of a workload; ``None`` without a build.

    Raises:
        InvalidInputError: an invalid command or time, or an option without a command.
    """
    words = build_words(arguments.build, None)
    return build_request(words, arguments.build_input, arguments.build_timeout)
