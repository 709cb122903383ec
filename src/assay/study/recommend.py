"""Scripts that run the recommendation, or each point of a front, without assay."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.executors.evidence.thread_pools import pools_read_in
from assay.launch.script import shell_script
from assay.records import Conclusion, Sample, StudySpec
from assay.study.loop import Planner
from assay.wording.proof import script_note


def with_scripts(
    conclusion: Conclusion, spec: StudySpec, planner: Planner, samples: Sequence[Sample] = ()
) -> Conclusion:
    """Return the conclusion with scripts for its recommendation and the points of its front."""
    recommendation = conclusion.recommendation
    if recommendation is None:
        return conclusion
    plan = planner(recommendation.settings, None)
    pools = pools_read_in(samples)
    note = script_note(recommendation)
    script = shell_script(plan, spec.workload, note=note, pools=pools)
    return msgspec.structs.replace(
        conclusion,
        recommendation=msgspec.structs.replace(recommendation, script=script),
        pareto_front=tuple(
            msgspec.structs.replace(
                point,
                script=shell_script(planner(point.settings, None), spec.workload, pools=pools),
            )
            for point in conclusion.pareto_front
        ),
    )
