"""``assay study prune`` and ``assay study compact``: keep a store small."""

from __future__ import annotations

import time
from collections.abc import Sequence

from assay.api.studies.compacting import RUNNING, Compacted, compact
from assay.api.studies.pruning import Extent, Pruned, PrunePolicy, prune
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.store import applies, policy_of, returns_space
from assay.cli.documents.study import (
    KeptStudy,
    PrunedStudy,
    StudyCompactAnswer,
    StudyPruneAnswer,
)
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.studies import study_line
from assay.cli.show.work_counter import WorkCounter
from assay.records import to_builtins
from assay.store import Store, open_store
from assay.units import show_bytes, show_count
from assay.untrusted import clean

_SUMMARIES = {
    Extent.STUDY: "{studies}, about {size}",
    Extent.THIN: "outputs and unneeded parts of samples of {studies}, about {size}",
    Extent.REMOVE: "outputs, samples without a verdict and unneeded parts of others of {studies},"
    " about {size}",
}


def run(parsed: Parsed) -> int:
    """Run the action; return 1 if studies are left out because they are damaged."""
    options = common_options(parsed)
    if parsed.action == "compact":
        with open_store(options.db, create=False) as store:
            return _compact(store, returns_space(parsed), options)
    policy = policy_of(parsed, time.time())
    with open_store(options.db, create=False) as store:
        return _prune(store, policy, applies(parsed), options)


def _prune(store: Store, policy: PrunePolicy, apply: bool, options: CommonOptions) -> int:
    with WorkCounter("prune", quiet=options.quiet) as counter:

        def report(done: int, total: int) -> None:
            counter.show(f"{done:,} of {show_count(total, 'study', 'studies')}")

        found = list(prune(store, policy, apply=apply, progress=report))
    pruned = [one for one in found if one.kept_because is None]
    status = 1 if any(one.damaged for one in found) else 0
    if options.json:
        print_json(to_builtins(_prune_answer(found, applied=apply)))
        return status
    if not apply or options.verbose:
        for one in pruned:
            print(f"{study_line(one.head)}  ({show_bytes(one.freed_bytes)})")
    for one in found:
        if one.kept_because is not None:
            print(f"Study {one.head.id} is left whole: {clean(one.kept_because)}.")
    if not options.quiet:
        print(_summary(pruned, policy.extent, applied=apply))
    return status


def _summary(pruned: Sequence[Pruned], extent: Extent, *, applied: bool) -> str:
    if not pruned:
        return "There is nothing to delete."
    text = _SUMMARIES[extent].format(
        studies=show_count(len(pruned), "study", "studies"),
        size=show_bytes(sum(one.freed_bytes for one in pruned)),
    )
    if not applied:
        return f"Would delete {text}. Nothing was changed; --yes deletes it."
    return f"Deleted {text}. `assay study compact` returns the space to the file system."


def _prune_answer(found: Sequence[Pruned], *, applied: bool) -> StudyPruneAnswer:
    return StudyPruneAnswer(
        applied=applied,
        studies=tuple(
            PrunedStudy(
                id=one.head.id,
                command=one.head.command,
                created_at=one.head.created_at,
                launches=one.head.launches,
                freed_bytes=one.freed_bytes,
            )
            for one in found
            if one.kept_because is None
        ),
        kept=tuple(
            KeptStudy(id=one.head.id, reason=one.kept_because, damaged=one.damaged)
            for one in found
            if one.kept_because is not None
        ),
        freed_bytes=sum(one.freed_bytes for one in found),
    )


def _compact(store: Store, vacuum: bool, options: CommonOptions) -> int:
    with WorkCounter("compact", quiet=options.quiet) as counter:

        def report(done: int, total: int, samples: int) -> None:
            studies = show_count(total, "study", "studies")
            counter.show(f"{done:,} of {studies}, {show_count(samples, 'sample')} packed")

        def announce() -> None:
            counter.say("returning free space; no other process can store samples meanwhile")

        result = compact(store, vacuum=vacuum, progress=report, announce_vacuum=announce)
    status = 1 if result.damaged else 0
    if options.json:
        print_json(to_builtins(_compact_answer(result)))
        return status
    for study_id, reason in result.left_out.items():
        print(f"Study {study_id} is left out: {clean(reason)}.")
    if not options.quiet:
        print(_compaction_text(result, asked=vacuum))
    return status


def _compaction_text(result: Compacted, *, asked: bool) -> str:
    sizes = f"{show_bytes(result.before_bytes)} before, {show_bytes(result.after_bytes)} now"
    text = f"Packed {show_count(result.packed_samples, 'sample')}; the store takes {sizes}."
    if result.vacuumed or not result.free_bytes:
        return text
    free = f"{text} {show_bytes(result.free_bytes)} within it are free for new samples"
    if asked and RUNNING in result.left_out.values():
        return f"{free}: the return of space waits for the end of running studies."
    return f"{free}."


def _compact_answer(result: Compacted) -> StudyCompactAnswer:
    return StudyCompactAnswer(
        packed_samples=result.packed_samples,
        before_bytes=result.before_bytes,
        after_bytes=result.after_bytes,
        free_bytes=result.free_bytes,
        vacuumed=result.vacuumed,
        left_out=tuple(
            KeptStudy(id=study_id, reason=reason, damaged=study_id in result.damaged)
            for study_id, reason in result.left_out.items()
        ),
    )
