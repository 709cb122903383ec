"""Gone: what every launch of a study needs, and somebody took away while it ran.

No configuration is to blame, so such a launch makes no sample: the study stops, and goes on once
what it needs is back.
"""

from __future__ import annotations

import errno
from pathlib import Path

from assay.errors import NotPossibleError
from assay.records import RunFacts, Workload

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_BACK = "Put it back, then go on with `assay study resume`: what was measured is kept."


class MissingInputError(NotPossibleError):
    """Something that every launch needs is no longer there.

    Args:
        what: in the words of a sentence: ``"The working folder"``.
        path: where it was.
        remedy: what to do next.
    """

    def __init__(self, what: str, path: str, remedy: str = _BACK) -> None:
        super().__init__(f"{what} {path} is gone.", remedy)
        self.path = path


def demand_folder(cwd: str | None) -> None:
    """Look for the folder that a study was begun in.

    Raises:
        Gone: it is not there.
    """
    if cwd is not None and not Path(cwd).is_dir():
        raise MissingInputError("The working folder", cwd)


def demand_inputs(facts: RunFacts, workload: Workload, output: Path) -> None:
    """Explain a launch that could not be put in place for want of a file or folder.

    Args:
        facts: about it.
        workload: what was to run.
        output: file for the program's output.

    Raises:
        Gone: names what is missing.
    """
    if facts.outcome != "setup_failed" or facts.errno not in _ABSENT:
        return
    match facts.stage:
        case "cwd" if workload.cwd is not None:
            raise MissingInputError("The working folder", workload.cwd)
        case "stdin" if workload.stdin is not None:
            raise MissingInputError("The input", workload.stdin)
        case "stdout" | "stderr":
            raise MissingInputError(
                "The folder for the program's output",
                str(output.parent),
                "Something removes temporary files; TMPDIR names another place for them. "
                "`assay study resume` goes on: what was measured is kept.",
            )
        case _:
            return
