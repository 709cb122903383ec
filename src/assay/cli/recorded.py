"""Recorded: what ``assay run --record`` writes."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.bundle.files import replacing
from assay.cli.ready import Ready, launch_of
from assay.measure.sample import build_sample
from assay.records import RunFacts, encode

STDOUT = "-"


def record(name: str, ready: Ready, facts: RunFacts) -> None:
    """Write the sample as JSON: to a file, or as the last line of standard output.

    Raises:
        BadInput: a folder, or within none.
        NotPossible: it cannot be written.
    """
    launch, grants = launch_of(ready.plan), ready.judge(facts)
    sample = build_sample(launch, ready.workload, facts, (), grants, ready.evidence)
    line = encode(sample) + b"\n"
    if name == STDOUT:
        # Behind what the program wrote, whose last line may have no end.
        sys.stdout.buffer.write(b"\n" + line)
        sys.stdout.flush()
        return
    with replacing(Path(name)) as file:
        file.write(line)
