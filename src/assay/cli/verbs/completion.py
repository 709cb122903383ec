"""``assay completion``: completion scripts for shells."""

from __future__ import annotations

from assay.cli.arguments.information import shell_name
from assay.cli.completion import completion
from assay.cli.parsing.parser import Parsed


def run(parsed: Parsed) -> int:
    """Run the verb."""
    print(completion(shell_name(parsed)), end="")
    return 0
