"""List and labels of the studies of a store."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from assay.cli.arguments.common import CommonOptions
from assay.cli.documents.study import StudyDeleteAnswer, StudyLabelAnswer
from assay.cli.show.json_output import print_json
from assay.errors import InvalidInputError
from assay.records import to_builtins
from assay.store import Store, StudyHead, StudySelection, list_heads
from assay.untrusted import clean
from assay.wording.trial_words import SampleWords

_COMMAND_WIDTH = 60


def list_studies(selection: StudySelection, options: CommonOptions) -> int:
    """Print the selected studies, oldest first."""
    heads = list_heads(options.db, selection)
    if options.json:
        print_json({"studies": [to_builtins(head) for head in heads]})
        return 0
    if not heads:
        print(_nothing(options, selection))
    for head in heads:
        print(study_line(head))
    return 0


def study_line(head: StudyHead) -> str:
    """Return the line of a study."""
    one, several = SampleWords(in_process=head.in_process).noun
    noun = one if head.launches == 1 else several
    width = _COMMAND_WIDTH
    command = head.command if len(head.command) <= width else head.command[: width - 3] + "..."
    labels = f"  [{', '.join(head.labels)}]" if head.labels else ""
    return (
        f"{head.id}  {show_time(head.created_at)}  {head.kind:9} {head.status:12}"
        f"{head.launches:>6} {noun:8}  {clean(command + labels)}"
    )


def change_label(
    label: str, removes: bool, options: CommonOptions, store: Store, study_id: str
) -> int:
    """Add a label to a study, or remove it.

    Raises:
        InvalidInputError: an invalid label, or one to remove that the study does not have.
    """
    if removes:
        _demand_label(label, store.study(study_id).labels, study_id)
        store.remove_label(study_id, label)
    else:
        store.add_label(study_id, label)
    labels = store.study(study_id).labels
    if options.json:
        print_json(to_builtins(StudyLabelAnswer(study=study_id, labels=labels)))
    elif not options.quiet:
        shown = ", ".join(labels) or "none"
        print(f"Labels of study {study_id}: {clean(shown)}.")
    return 0


def _demand_label(label: str, labels: Sequence[str], study_id: str) -> None:
    if label not in labels:
        raise InvalidInputError(
            f"Study {study_id} has no label {label!r}.",
            f"Its labels: {', '.join(labels)}." if labels else "It has no labels.",
        )


def delete_study(options: CommonOptions, store: Store, study_id: str) -> int:
    """Delete a study."""
    store.delete(study_id)
    if options.json:
        print_json(to_builtins(StudyDeleteAnswer(deleted=study_id)))
    elif not options.quiet:
        print(f"Study {study_id} is deleted.")
    return 0


def show_time(seconds: float) -> str:
    """Return a time since 1970 as local date and time."""
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _nothing(options: CommonOptions, selection: StudySelection) -> str:
    newest = StudySelection(limit=1)
    if selection == StudySelection() or not list_heads(options.db, newest):
        return "No studies yet. `assay tune -- COMMAND` begins one."
    return "No matching study. `assay study list` without options lists all studies."
