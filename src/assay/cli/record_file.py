"""Output file of ``assay run --record``."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.api.launches.ready import Ready, launch_of
from assay.bundle.files import replace_atomically
from assay.cli.arguments.run import STDOUT
from assay.executors.sample import build_sample
from assay.launch.observations import active_observations
from assay.records import Observation, RunFacts, encode


def write_record(
    name: str, observe: tuple[Observation, ...] | None, ready: Ready, facts: RunFacts
) -> None:
    """Write the sample as JSON to a file, or as the last line of standard output.

    Raises:
        InvalidInputError: the path is a folder, or its folder is missing.
        NotPossibleError: the file cannot be written.
    """
    launch, grants = launch_of(ready.plan), ready.judge(facts)
    on = active_observations(launch, ready.workload, ready.plan.configuration, observe)
    sample = build_sample(launch, ready.workload, facts, (), grants, ready.evidence, observed=on)
    for reason in sample.contradictions:
        print(f"assay: the launch is suspect: {reason}.", file=sys.stderr)
    line = encode(sample) + b"\n"
    if name == STDOUT:
        # After the output of the program, whose last line may lack a newline.
        sys.stdout.buffer.write(b"\n" + line)
        sys.stdout.flush()
        return
    with replace_atomically(Path(name)) as file:
        file.write(line)
