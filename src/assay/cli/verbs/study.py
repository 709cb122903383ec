"""``assay study``: list, show, compare, resume, confirm, export, verify, calibrate, delete."""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from collections.abc import Iterable

import msgspec

from assay.bundle.document import sample_documents
from assay.cli.boot_pauses import firmware_confirmations
from assay.cli.composition import laboratory_of, store_of
from assay.cli.export import export
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.built import with_built, with_found
from assay.cli.requests.confirm import confirmed, demand_programs
from assay.cli.requests.request import budget_of
from assay.cli.requests.reserving import in_share
from assay.cli.show.answer import deliver_answer, export_paths, named_result
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.progress import Progress, uses_live_line
from assay.cli.show.result import result_lines, verdict_lines
from assay.cli.verbs import calibrate
from assay.cli.verification import verify_file
from assay.errors import InvalidInputError
from assay.records import Status, to_builtins
from assay.search.conclusion.interim import interim_sentence
from assay.store import Store, StudyRecord
from assay.study.firmware import demand_varied, with_firmware_values
from assay.study.session import StudyResult, elapsed_of, finished_result, resume, stored_result
from assay.units import show_count, show_duration
from assay.untrusted import clean
from assay.wording.failure import Failure, last_failure
from assay.wording.warm_start import warm_start_announcement


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    _demand_used(arguments)
    if arguments.action == "list":
        return _list(arguments)
    if arguments.action == "calibrate":
        return calibrate.run(parsed)
    if arguments.action == "compare":
        from assay.cli.verbs import conditions  # the other actions need none of it

        return conditions.run(arguments)
    if not arguments.study:
        raise InvalidInputError(
            f"`assay study {arguments.action}` needs a {NEEDED.get(arguments.action, 'study')}.",
            "`assay study list` shows the studies."
            if arguments.action != "verify"
            else "`assay study export STUDY --bundle FILE` writes one.",
        )
    if arguments.action == "verify":
        return verify_file(arguments)
    actions = {
        "show": _show,
        "resume": _resume,
        "confirm": _confirm,
        "export": export,
        "delete": _delete,
    }
    with store_of(arguments, create=False) as store:
        return actions[arguments.action](arguments, store, store.find(arguments.study))


NEEDED = {"verify": "file"}
OF_ACTIONS = {
    "resume": ("budget", "runs", "export", "new_stratum", "reboot_command", "confirm"),
    "confirm": ("budget", "runs", "export", "point", "disturbed_above"),
    "calibrate": ("budget", "runs", "seed", "disturbed_above", "observe", "overhead"),
    "compare": ("file", "metric", "margin", "occasion", "same_workload", "fail_if", "markdown"),
    "export": ("bundle", "csv", "openmetrics", "output", "no_outputs", "file"),
    "verify": ("signature", "signer"),
}
"""The options of some actions alone; what stands twice is named of the first."""
MORE = {"resume": "; of a study that is done it only tells the result"}


def _demand_used(arguments: argparse.Namespace) -> None:
    """Refuse words that the action would leave unread.

    Raises:
        InvalidInputError: names the first.
    """
    if arguments.action == "list" and arguments.study:
        raise InvalidInputError(
            "`assay study list` takes no study.", f"Write: assay study show {arguments.study}"
        )
    own = OF_ACTIONS.get(arguments.action, ())
    for action, names in OF_ACTIONS.items():
        others = (name for name in names if name not in own)
        given = next((name for name in others if getattr(arguments, name)), None)
        if given is None:
            continue
        if given == "file":
            raise InvalidInputError(
                f"Unexpected argument {arguments.file!r} for `assay study {arguments.action}`.",
                "`assay study --help` shows what it takes.",
            )
        raise InvalidInputError(
            f"`assay study {arguments.action}` takes no --{given.replace('_', '-')}.",
            f"`assay study {action}` does{MORE.get(action, '')}.",
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
        noun = "launch" if head.launches == 1 else "launches"
        command = head.command if len(head.command) <= 60 else head.command[:57] + "..."
        print(
            f"{head.id}  {_when(head.created_at)}  {head.kind:9} {head.status:12}"
            f"{head.launches:>6} {noun:8}  {clean(command)}"
        )
    return 0


def _show(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    record = store.study(study_id)
    result = stored_result(store, record)
    if arguments.json:
        of_newest = result.conclusion if result else None
        document = to_builtins(msgspec.structs.replace(record, conclusion=of_newest))
        document["conclusions"] = [
            {"stratum": number, **to_builtins(found)}
            for number, found in store.verdicts(study_id).items()
        ]
        document["samples"] = [
            {"stratum": stratum.number, **sample}
            for stratum in record.strata
            for sample in sample_documents(record.spec, store.samples(study_id, stratum.number))
        ]
        print_json({"study": study_id, **document})
        return 0
    record = msgspec.structs.replace(record, elapsed_s=elapsed_of(store, record))
    width = width_of(sys.stdout)
    failure = None
    if record.status is Status.FAILED:
        samples = store.samples(study_id, record.strata[-1].number)
        failure = last_failure(record.spec, samples)
    present = ""
    if result is None and failure is None:
        present = interim_sentence(record.spec, store.samples(study_id, record.strata[-1].number))
    print("\n".join(wrapped(_lines(record, result, width, failure, present), width)))
    return 0


def _lines(
    record: StudyRecord,
    result: StudyResult | None,
    width: int | None,
    failure: Failure | None,
    present: str,
) -> Iterable[str]:
    """The study, then its result; of one that failed why, as far as a launch shows it.

    Args:
        record: of the study.
        result: of its newest stratum, if it has one.
        width: columns that there are.
        failure: of its last launch, where the study failed.
        present: the present recommendation of one without a result.
    """
    launches = show_count(record.launches, "launch", "launches")
    if len(record.strata) > 1:
        launches += f" in {len(record.strata)} strata"
    yield (
        f"study {record.id}: {record.spec.kind}, {record.status}, {launches}, "
        f"begun {_when(record.created_at)}, {show_duration(record.elapsed_s)}"
    )
    yield f"  command  {clean(record.spec.command_line)}"
    if record.spec.workload.build is not None:
        yield f"  built by {clean(shlex.join(record.spec.workload.build.argv))}"
    if record.spec.reserve is not None:
        yield f"  reserved {clean(record.spec.reserve.told)}"
    for stratum in record.strata:
        yield f"  stratum {stratum.number}  {stratum.model}, Linux {stratum.kernel}"
    if result is None:
        if record.spec.earlier:
            yield f"  warm start  {clean(warm_start_announcement(record.spec.earlier))}"
        yield from _open_lines(record, failure)
        if present:
            yield f"  {clean(present)}"
        return
    yield ""
    yield from result_lines(named_result(result), width)


def _open_lines(record: StudyRecord, failure: Failure | None) -> Iterable[str]:
    """Of a study whose newest stratum has no verdict."""
    if failure is not None:
        yield f"  failed, without a conclusion. The last launch: {clean(failure.told)}."
        yield f"  {clean(failure.remedy)}"
    elif record.conclusion is None:
        yield f"  no conclusion yet; `assay study resume {record.id}` goes on"
    if record.conclusion is None:
        return
    newest = record.strata[-1].number
    if failure is None:
        yield f"  no conclusion of stratum {newest} yet; `assay study resume {record.id}` goes on"
    for sentence in verdict_lines(record.conclusion, record.spec):
        yield f"  before it: {clean(sentence)}"


def _resume(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    exports = export_paths(arguments)
    record = store.study(study_id)
    spec = record.spec
    more = budget_of(arguments) if arguments.budget or arguments.runs else None
    said = firmware_confirmations(arguments)
    lab = with_firmware_values(laboratory_of(spec, arguments.helper), spec, said)
    demand_varied(said, spec)
    if record.status is Status.DONE and more is None and not arguments.new_stratum:
        found = finished_result(with_found(lab, spec), store, record)
        if found is not None:
            deliver_answer(
                arguments, found, store.samples(study_id, record.strata[-1].number), exports
            )
            return 0
    with in_share(lab, spec.reserve, seed=spec.seed, quiet=arguments.quiet) as placed:
        placed = placed.divided(spec.parallel)
        placed = with_built(placed, spec, quiet=arguments.quiet)
        if arguments.new_stratum:  # without it the program is compared, and named
            demand_programs(placed, study_id)
        with Progress(
            spec, live=uses_live_line(arguments), quiet=arguments.quiet, launches=record.launches
        ) as progress:
            result = resume(
                placed, store, study_id, progress, new_stratum=arguments.new_stratum, more=more
            )
    # The conclusion is of the newest stratum alone, and so are the samples.
    newest = store.study(study_id).strata[-1]
    deliver_answer(arguments, result, store.samples(study_id, newest.number), exports)
    return 0


def _confirm(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    exports = export_paths(arguments)
    result = confirmed(arguments, store, study_id, budget_of(arguments), arguments.point)
    deliver_answer(arguments, result, (), exports)
    return 0


def _delete(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    store.delete(study_id)
    if arguments.json:
        print_json({"deleted": study_id})
    elif not arguments.quiet:
        print(f"Study {study_id} is deleted.")
    return 0


def _when(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
