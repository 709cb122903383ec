"""Loop of a worker that does jobs; see ``server``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

Job = Callable[..., dict[str, Any]]


def serve(jobs: Mapping[str, Job]) -> None:
    """Do the jobs that standard input describes, until it ends.

    Nothing but answers goes to the standard output that this process was started with.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = jobs[job.pop("job")](**job)
        except (Exception, SystemExit) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
