"""``assay study``: list, show, resume, delete."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterable

from assay.cli.answer import exports_of, give
from assay.cli.documents import print_json
from assay.cli.layout import fitted, width_of
from assay.cli.parser import Parsed
from assay.cli.progress import Progress, wants_live
from assay.cli.request import budget_of
from assay.cli.show import result_lines
from assay.cli.wire import laboratory_of, store_of
from assay.errors import BadInput, NotPossible
from assay.records import Conclusion, to_builtins
from assay.store import Store, StudyRecord
from assay.study.session import Laboratory, Result, resume
from assay.units import show_count, show_duration
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    _demand_used(arguments)
    if arguments.action == "list":
        return _list(arguments)
    if not arguments.study:
        raise BadInput(
            f"`assay study {arguments.action}` needs a study.", "`assay study list` shows them."
        )
    actions = {"show": _show, "resume": _resume, "delete": _delete}
    with store_of(arguments, create=False) as store:
        return actions[arguments.action](arguments, store, store.find(arguments.study))


def _demand_used(arguments: argparse.Namespace) -> None:
    """Refuse words that the action would leave unread.

    Raises:
        BadInput: names the first.
    """
    if arguments.action == "list" and arguments.study:
        raise BadInput(
            "`assay study list` takes no study.", f"Write: assay study show {arguments.study}"
        )
    of_resume = {
        "--budget": arguments.budget,
        "--runs": arguments.runs,
        "--export": arguments.export,
        "--new-stratum": arguments.new_stratum,
    }
    for option, given in of_resume.items():
        if given and arguments.action != "resume":
            raise BadInput(
                f"`assay study {arguments.action}` takes no {option}.",
                "`assay study resume` does; of a study that is done it only tells the result.",
            )


def _list(arguments: argparse.Namespace) -> int:
    with store_of(arguments) as store:
        heads = store.studies()
    if arguments.json:
        print_json({"studies": [to_builtins(head) for head in heads]})
        return 0
    if not heads:
        print("No studies yet. `assay tune -- COMMAND` makes one.")
    for head in heads:
        command = head.command if len(head.command) <= 60 else head.command[:57] + "..."
        print(
            f"{head.id}  {_when(head.created_at)}  {head.kind:8} {head.status:12}"
            f"{head.launches:>6} {'launch  ' if head.launches == 1 else 'launches'}  {clean(command)}"
        )
    return 0


def _show(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    record = store.study(study_id)
    conclusion = record.conclusion
    if arguments.json:
        document = to_builtins(record)
        document["samples"] = [
            {"stratum": stratum.number, **to_builtins(sample)}
            for stratum in record.strata
            for sample in store.samples(study_id, stratum.number)
        ]
        print_json({"study": study_id, **document})
        return 0
    width = width_of(sys.stdout)
    print("\n".join(fitted(_lines(record, conclusion, width), width)))
    return 0


def _lines(record: StudyRecord, conclusion: Conclusion | None, width: int | None) -> Iterable[str]:
    yield (
        f"study {record.id}: {record.spec.kind}, {record.status}, "
        f"{show_count(record.launches, 'launch', 'launches')}, begun {_when(record.created_at)}, {show_duration(record.elapsed_s)}"
    )
    yield f"  command  {clean(' '.join(record.spec.workload.argv))}"
    for stratum in record.strata:
        yield f"  stratum {stratum.number}  {stratum.model}, Linux {stratum.kernel}"
    if conclusion is None:
        yield f"  no conclusion yet; `assay study resume {record.id}` goes on"
        return
    result = Result(record.id, record.spec, conclusion, record.elapsed_s)
    yield ""
    yield from result_lines(result, width)


def _resume(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    exports = exports_of(arguments)
    record = store.study(study_id)
    spec = record.spec
    more = budget_of(arguments) if arguments.budget or arguments.runs else None
    lab = laboratory_of(spec)
    if arguments.new_stratum:  # without it the program is compared, and named
        _demand_programs(lab, study_id)
    with Progress(
        spec, live=wants_live(arguments), quiet=arguments.quiet, launches=record.launches
    ) as progress:
        result = resume(
            lab, store, study_id, progress, new_stratum=arguments.new_stratum, more=more
        )
    # The conclusion is of the newest stratum alone, and so are the samples.
    newest = store.study(study_id).strata[-1]
    give(arguments, result, store.samples(study_id, newest.number), exports)
    return 0


def _demand_programs(lab: Laboratory, study_id: str) -> None:
    """Refuse to begin anew with nothing to run.

    Raises:
        NotPossible: names the program that is not there.
    """
    for program in filter(None, (lab.program, *lab.others)):
        if program.path is None:
            raise NotPossible(
                f"The program {program.argv0!r} of study {study_id} is not there any more.",
                "Put it back; a new place of it takes a new study.",
            )


def _delete(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    store.delete(study_id)
    if arguments.json:
        print_json({"deleted": study_id})
    elif not arguments.quiet:
        print(f"Study {study_id} is deleted.")
    return 0


def _when(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
