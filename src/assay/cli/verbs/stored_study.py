"""``assay study``: show, compare, resume, confirm, export, verify and calibrate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from assay.api.composition import opened_store
from assay.api.results.sentences import verdict_lines
from assay.api.studies.confirming import confirm
from assay.api.studies.resuming import resume_study
from assay.bundle.document import Raw, sample_lines, write_json
from assay.cli.announcements import context_of
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study import (
    confirm_request,
    export_options,
    export_request,
    resume_request,
    verify_request,
)
from assay.cli.arguments.study_actions import study_name
from assay.cli.arguments.study_groups import export_paths
from assay.cli.export import export
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer, named_result
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.result import result_lines
from assay.cli.show.studies import show_time
from assay.cli.verbs import calibrate
from assay.cli.verification import verify_file
from assay.records import Status, to_builtins
from assay.requests.stored_study import ConfirmRequest, ResumeRequest
from assay.search.conclusion.interim import interim_sentence
from assay.search.history.excluded_blocks import conditions_of
from assay.search.history.packed_samples import PackedSamples
from assay.store import Store, StudyRecord
from assay.study.elapsed import elapsed_of
from assay.study.recorded_samples import stored_samples
from assay.study.result import StudyResult, stored_result
from assay.units import show_count, show_duration
from assay.untrusted import clean
from assay.wording.endings import earlier_verdict_notes
from assay.wording.failure import Failure, last_failure
from assay.wording.trial_words import sample_words
from assay.wording.warm_start import warm_start_announcement


def run(parsed: Parsed) -> int:
    """Run an action that concludes or launches."""
    options = common_options(parsed)
    match parsed.action:
        case "calibrate":
            return calibrate.run(parsed)
        case "compare":
            from assay.cli.verbs import conditions  # the other actions need none of it

            return conditions.run(parsed)
        case "verify":
            return verify_file(verify_request(parsed), options)
    return _run_on_study(parsed, options)


def _run_on_study(parsed: Parsed, options: CommonOptions) -> int:
    name = study_name(parsed)
    action: Callable[[Store, str], int]
    match parsed.action:
        case "resume":
            action = partial(_resume, resume_request(parsed), options, export_paths(parsed))
        case "confirm":
            action = partial(_confirm, confirm_request(parsed), options, export_paths(parsed))
        case "export":
            action = partial(export, export_request(parsed), export_options(parsed))
        case _:
            action = partial(_show, options)
    with opened_store(options.db, create=False) as store:
        return action(store, store.find(name))


def _show(options: CommonOptions, store: Store, study_id: str) -> int:
    record = store.study(study_id)
    if options.json:
        write_json(_document(store, record), sys.stdout)
        return 0
    result = stored_result(store, record)
    record = msgspec.structs.replace(record, elapsed_s=elapsed_of(store, record))
    width = width_of(sys.stdout)
    failure = None
    if record.status is Status.FAILED:
        failure = last_failure(record.spec, _newest_samples(store, record))
    interim = ""
    if result is None and failure is None:
        interim = interim_sentence(record.spec, _newest_samples(store, record))
    print("\n".join(wrapped(_lines(record, result, width, failure, interim), width)))
    return 0


def _newest_samples(store: Store, record: StudyRecord) -> PackedSamples:
    """Return the samples of the newest stratum."""
    return stored_samples(store, record.id, record.strata[-1].number)


def _document(store: Store, record: StudyRecord) -> dict[str, Any]:
    """Return a study with its samples, which are read as the document is written."""
    conclusions = store.conclusions(record.id)
    newest = conclusions.get(record.strata[-1].number)
    document = {
        "study": record.id,
        **to_builtins(msgspec.structs.replace(record, conclusion=newest)),
    }
    document["conclusions"] = [
        {"stratum": number, **to_builtins(found)} for number, found in conclusions.items()
    ]
    if newest is not None and record.status is not Status.DONE:
        made = store.count_samples(record.id, record.strata[-1].number)
        notes = earlier_verdict_notes(record.id, record.spec, newest, made, record.status)
        document["notes"] = list(map(sample_words(record.spec), notes))
    document["samples"] = _sample_lines(store, record)
    return document


def _sample_lines(store: Store, record: StudyRecord) -> Iterator[Raw]:
    for number in (stratum.number for stratum in record.strata):
        conditions = conditions_of(record.spec, store.iterate_samples(record.id, number))
        yield from sample_lines(number, store.iterate_samples(record.id, number), conditions)


def _lines(
    record: StudyRecord,
    result: StudyResult | None,
    width: int | None,
    failure: Failure | None,
    interim: str,
) -> Iterable[str]:
    """Yield the lines on a study, then its result, or the reason of its failure.

    Args:
        record: record of the study.
        result: result of its newest stratum; ``None`` without one.
        width: width of the terminal, in columns; ``None`` for none.
        failure: failure of the last launch, if the study failed.
        interim: interim recommendation of a study without a result; empty for none.
    """
    launches = show_count(record.launches, *sample_words(record.spec).noun)
    if len(record.strata) > 1:
        launches += f" in {len(record.strata)} strata"
    yield (
        f"study {record.id}: {record.spec.kind}, {record.status}, {launches}, "
        f"begun {show_time(record.created_at)}, {show_duration(record.elapsed_s)}"
    )
    yield f"  command  {clean(record.spec.command_line)}"
    if record.spec.workload.build is not None:
        yield f"  built by {clean(shlex.join(record.spec.workload.build.argv))}"
    if record.spec.reserve is not None:
        yield f"  reserved {clean(record.spec.reserve.text)}"
    if record.labels:
        yield f"  labels   {clean(', '.join(record.labels))}"
    for stratum in record.strata:
        yield f"  stratum {stratum.number}  {stratum.model}, Linux {stratum.kernel}"
    if result is None:
        if record.spec.earlier_studies:
            yield f"  warm start  {clean(warm_start_announcement(record.spec.earlier_studies))}"
        yield from _open_lines(record, failure)
        if interim:
            yield f"  {clean(interim)}"
        return
    yield ""
    yield from result_lines(named_result(result), width)


def _open_lines(record: StudyRecord, failure: Failure | None) -> Iterable[str]:
    """Yield the lines on a study whose newest stratum has no verdict."""
    if failure is not None:
        yield f"  failed, without a conclusion. The last launch: {clean(failure.text)}."
        yield f"  {clean(failure.remedy)}"
    elif record.conclusion is None:
        yield f"  no conclusion yet; {_continuation(record)}"
    if record.conclusion is None:
        return
    newest = record.strata[-1].number
    if failure is None:
        yield f"  no conclusion of stratum {newest} yet; {_continuation(record)}"
    for sentence in verdict_lines(record.conclusion, record.spec):
        yield f"  earlier stratum: {clean(sentence)}"


def _continuation(record: StudyRecord) -> str:
    """Return the way to a conclusion: a study that runs cannot be resumed."""
    if record.status is Status.RUNNING:
        return "the study is running"
    return f"`assay study resume {record.id}` continues the study"


def _resume(
    request: ResumeRequest,
    options: CommonOptions,
    exports: Sequence[Path],
    store: Store,
    study_id: str,
) -> int:
    result = resume_study(request, context_of(options), store, study_id)
    deliver_answer(result, exports, json=options.json)
    return 0


def _confirm(
    request: ConfirmRequest,
    options: CommonOptions,
    exports: Sequence[Path],
    store: Store,
    study_id: str,
) -> int:
    result = confirm(request, context_of(options), store, study_id)
    deliver_answer(result, exports, json=options.json)
    return 0
