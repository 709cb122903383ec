"""Words and options of the actions of ``assay study``. This module loads quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import InvalidInputError

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed

OPTIONS_BY_ACTION = {
    "list": ("limit", "label", "command", "since", "until", "machine"),
    "resume": ("budget", "runs", "export", "new_stratum", "reboot_command", "confirm"),
    "confirm": ("budget", "runs", "export", "point", "disturbed_above"),
    "calibrate": ("budget", "runs", "seed", "disturbed_above", "observe", "overhead"),
    "compare": ("file", "metric", "margin", "occasion", "same_workload", "fail_if", "markdown"),
    "export": ("bundle", "csv", "openmetrics", "output", "no_outputs", "file"),
    "verify": ("signature", "signer"),
    "label": ("file", "remove"),
    "prune": ("older_than", "keep_last", "samples", "yes"),
    "compact": ("no_vacuum",),
}
"""Options of single actions; an error on an option of several actions names the first of them."""
_REMEDIES_BY_ACTION = {"resume": "; for a finished study it only prints the result"}
"""Additional remedies of errors, by action."""


_WITHOUT_STUDY = {
    "list": "Write: assay study show {study}",
    "prune": "Write: assay study delete {study}",
    "compact": "It packs the whole store.",
}
"""Actions on the whole store, with the remedy of a superfluous study."""


def demand_study_options(parsed: Parsed) -> None:
    """Raise on words and options that the action does not take.

    Raises:
        InvalidInputError: there is such a word; names the first.
    """
    arguments = parsed.arguments
    if parsed.action in _WITHOUT_STUDY and arguments.study:
        raise InvalidInputError(
            f"`assay study {parsed.action}` takes no study.",
            _WITHOUT_STUDY[parsed.action].format(study=arguments.study),
        )
    own = OPTIONS_BY_ACTION.get(parsed.action, ())
    for action, names in OPTIONS_BY_ACTION.items():
        others = (name for name in names if name not in own)
        given = next((name for name in others if getattr(arguments, name)), None)
        if given is None:
            continue
        if given == "file":
            raise InvalidInputError(
                f"Unexpected argument {arguments.file!r} for `assay study {parsed.action}`.",
                "`assay study --help` shows what it takes.",
            )
        raise InvalidInputError(
            f"`assay study {parsed.action}` takes no --{given.replace('_', '-')}.",
            f"`assay study {action}` does{_REMEDIES_BY_ACTION.get(action, '')}.",
        )


def study_name(parsed: Parsed) -> str:
    """Return the study, or the file, that the action needs.

    Raises:
        InvalidInputError: it is missing.
    """
    name: str | None = parsed.arguments.study
    if name:
        return name
    if parsed.action == "verify":
        raise InvalidInputError(
            "`assay study verify` needs a file.",
            "`assay study export STUDY --bundle FILE` writes one.",
        )
    raise InvalidInputError(
        f"`assay study {parsed.action}` needs a study.", "`assay study list` shows the studies."
    )
