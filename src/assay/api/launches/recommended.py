"""Recommendation of a study, with the program that it was found with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from assay.api.composition import opened_store
from assay.errors import InvalidInputError
from assay.executors.builds.evidence import builds_in, is_build_of
from assay.executors.evidence.thread_pools import pools_read_in
from assay.records import (
    DEFAULT,
    Conclusion,
    Configuration,
    Kind,
    Recommendation,
    RequirementVerdict,
    Workload,
)
from assay.requests.run import RunRequest
from assay.study.in_process import demand_launchable
from assay.untrusted import clean

if TYPE_CHECKING:
    from assay.store import StudyRecord


class Recommended(msgspec.Struct, frozen=True):
    """Recommendation of a study.

    Attributes:
        study_id: id of the study.
        settings: recommended settings.
        workload: workload of the study.
        parallel: number of slots of the search; ``None`` without slots.
        program_digest: digest of the program files; for a built program also of its sources.
        builds: builds of the study, as in the evidence of its samples.
        unproven: no claim shows that the settings are better than the default.
        pools: variables of thread pools that its processes read; ``None`` if unknown.
    """

    study_id: str
    settings: Configuration
    workload: Workload
    parallel: int | None
    program_digest: str | None
    builds: frozenset[str]
    unproven: bool = False
    pools: frozenset[str] | None = None

    def built_otherwise(self, argv: tuple[str, ...], key: str) -> bool:
        """Return whether the study used the same build command on different sources.

        Args:
            argv: words of the build command.
            key: digest of all inputs of the build.
        """
        alike = [build for build in self.builds if is_build_of(build, argv)]
        return bool(alike) and not any(is_build_of(build, argv, key) for build in alike)


def recommended(request: RunRequest, db: str | None) -> Recommended:
    """Return the recommendation of the study of ``--from``.

    Args:
        request: request that names the study.
        db: URL of the store; ``None`` for the default one.

    Raises:
        InvalidInputError: an unknown study, or one without a recommendation.
    """
    assert request.study is not None
    with opened_store(db, create=False) as store:
        study_id = store.find(request.study)
        record = store.study(study_id)
        demand_launchable(record)
        spec = record.spec
        settings, proven = _chosen(record, request)
        threaded = any(name.startswith("threads") for name in settings)
        built = spec.workload.build is not None
        builds = builds_in(store.iterate_samples(study_id) if built else ())
        pools = pools_read_in(store.iterate_samples(study_id) if built or threaded else ())
    return Recommended(
        study_id=study_id,
        settings=settings,
        workload=spec.workload,
        parallel=spec.parallel,
        program_digest=record.strata[-1].program_digest,
        builds=builds,
        unproven=not proven,
        pools=pools,
    )


def _chosen(record: StudyRecord, request: RunRequest) -> tuple[Configuration, bool]:
    """Return the configuration to run again, and whether a claim shows that it is better."""
    from assay.api.launches.cell import cell_of, has_cells

    if has_cells(record) and request.point is None:
        cell = cell_of(record, request.cell, unproven=request.unproven)
        return cell.settings, cell.proven
    if request.cell is not None:
        raise InvalidInputError(
            f"Study {record.id} has no cells, which --cell {clean(request.cell)} needs.",
            "Name a finished sweep or comparison, or leave --cell out.",
        )
    settings = chosen_of(
        record,
        request.point,
        unproven=request.unproven,
        outputs_may_differ=request.outputs_may_differ,
    )
    return settings, not _is_unproven(record, request.point)


def _is_unproven(record: StudyRecord, point: str | None) -> bool:
    """Return whether no claim shows that the recommendation of a study is better."""
    conclusion = record.conclusion
    chosen = conclusion.recommendation if conclusion is not None else None
    return point is None and chosen is not None and chosen.unproven


def chosen_of(
    record: StudyRecord,
    point: str | None,
    *,
    unproven: bool = True,
    outputs_may_differ: bool = True,
) -> Configuration:
    """Return the recommended configuration of a study, or a point of its Pareto front.

    Args:
        record: record of the study.
        point: point of its front; ``None`` for the recommendation.
        unproven: accept a recommendation that is not proven.
        outputs_may_differ: accept a recommendation that may do other work than the default.

    Raises:
        InvalidInputError: the study has no recommendation or no such point, the recommendation is
            not proven although a proof is required, or no arm satisfies the requirements.
    """
    if record.conclusion is None and record.spec.kind is Kind.TUNE:
        raise InvalidInputError(
            f"Study {record.id} is not finished: its recommendation may still change.",
            f"`assay study resume {record.id}` continues it.",
        )
    if record.conclusion is None or record.conclusion.recommendation is None:
        raise InvalidInputError(
            f"Study {record.id} has no recommendation.",
            f"`assay study show {record.id}` shows its state.",
        )
    if point is not None:
        return _point(point, record.conclusion, record.id)
    recommendation = record.conclusion.recommendation
    default = _verdict_on_default(record.conclusion)
    if not recommendation.settings and default is RequirementVerdict.BROKEN:
        raise InvalidInputError(
            f"Study {record.id} found no configuration that meets the requirements, and the "
            "default does not meet them either.",
            "Leave --from out to run the command as it is; a search with a larger --budget may "
            "find more.",
        )
    known = not record.spec.requirements or default is RequirementVerdict.HOLDS
    if not recommendation.settings and not known and not unproven:
        raise InvalidInputError(
            f"Study {record.id} keeps the default, and did not show that the default meets "
            f"the requirements: {clean(recommendation.sentence)}",
            f"--unproven runs it anyway; `assay study resume {record.id}` with a larger --budget "
            "or --runs continues the study.",
        )
    if recommendation.output_difference is not None and not outputs_may_differ:
        raise InvalidInputError(
            f"The recommendation of study {record.id} may do other work than the default: "
            f"{clean(recommendation.output_difference)}.",
            "--unproven --outputs-may-differ runs it anyway.",
        )
    if recommendation.unproven and not unproven:
        raise _not_proven(record, recommendation)
    return recommendation.settings


def _verdict_on_default(conclusion: Conclusion) -> RequirementVerdict | None:
    """Return the worst verdict on the requirements of the default; ``None`` without one."""
    found = [one.verdict for one in conclusion.requirements if one.arm == str(DEFAULT)]
    order = (RequirementVerdict.BROKEN, RequirementVerdict.UNCLEAR, RequirementVerdict.HOLDS)
    return min(found, key=order.index, default=None)


def _not_proven(record: StudyRecord, recommendation: Recommendation) -> InvalidInputError:
    from assay.wording.proof import proof_command, proof_words  # a run needs no search

    remedy = "--unproven runs it anyway"
    if recommendation.proof is not None:
        command = proof_command(record.id, record.spec.budget, recommendation.proof)
        remedy += f"; a proof takes {proof_words(recommendation.proof)}: `{command}`"
    return InvalidInputError(
        f"The recommendation of study {record.id} is not proven: {clean(recommendation.sentence)}",
        f"{remedy}.",
    )


def _point(text: str, conclusion: Conclusion, study_id: str) -> Configuration:
    """Return a point of a Pareto front, by its number or its settings.

    Raises:
        InvalidInputError: the study has no Pareto front, or no such point.
    """
    names = [point.name for point in conclusion.pareto_front]
    if not names:
        raise InvalidInputError(
            f"Study {study_id} has no Pareto front, which --point {text} needs.",
            f"Leave --point out; `assay study show {study_id}` shows its recommendation.",
        )
    if text in names:
        return conclusion.pareto_front[names.index(text)].settings
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return conclusion.pareto_front[int(text) - 1].settings
    raise InvalidInputError(
        f"The Pareto front of study {study_id} has no point {text}.",
        f"It has points 1 to {len(names)}; `assay study show {study_id}` shows them."
        if len(names) > 1
        else f"It has point 1 alone: {names[0]}.",
    )
