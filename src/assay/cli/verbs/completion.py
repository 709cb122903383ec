"""``assay completion``: completion scripts for shells."""

from __future__ import annotations

from assay.cli.completion import completion
from assay.cli.parsing.parser import Parsed


def run(parsed: Parsed) -> int:
    """Run the verb."""
    print(completion(parsed.arguments.shell), end="")
    return 0
