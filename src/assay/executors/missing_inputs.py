"""Inputs of all launches of a study that disappeared while it ran.

No configuration causes such a failure, so that the launch gives no sample. The study stops, and
resumes once the input is back.
"""

from __future__ import annotations

import errno
from pathlib import Path

from assay.errors import NotPossibleError
from assay.records import RunFacts, Workload

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_BACK = "Restore it, then run `assay study resume`: all samples so far are kept."


class MissingInputError(NotPossibleError):
    """Loss of a file or folder that every launch needs.

    Args:
        what: subject of the message: ``"The working folder"``.
        path: path of the file or folder.
        remedy: next step.
    """

    def __init__(self, what: str, path: str, remedy: str = _BACK) -> None:
        super().__init__(f"{what} {path} is missing.", remedy)
        self.path = path


def demand_folder(cwd: str | None) -> None:
    """Check that the working folder of a study exists.

    Raises:
        MissingInputError: the folder is missing.
    """
    if cwd is not None and not Path(cwd).is_dir():
        raise MissingInputError("The working folder", cwd)


def demand_inputs(facts: RunFacts, workload: Workload, output: Path) -> None:
    """Explain a launch that failed because a file or folder is missing.

    Args:
        facts: facts of the launch.
        workload: program of the launch.
        output: file for the output of the program.

    Raises:
        MissingInputError: a file or folder is missing; the message names it.
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
                "Another process removes temporary files. Set TMPDIR to another folder, then run "
                "`assay study resume`: all samples so far are kept.",
            )
        case _:
            return
