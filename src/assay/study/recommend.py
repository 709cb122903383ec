"""The recommendation: a winner, or each point of a front, with a way to run it without assay."""

from __future__ import annotations

import msgspec

from assay.launch.script import shell_script
from assay.records import Conclusion, StudySpec
from assay.search.proof_words import script_note
from assay.study.loop import Planner


def with_script(conclusion: Conclusion, spec: StudySpec, planner: Planner) -> Conclusion:
    """The conclusion with the scripts that run what it recommends, and the points of its front."""
    recommendation = conclusion.recommendation
    if recommendation is None:
        return conclusion
    plan = planner(recommendation.settings, None)
    script = shell_script(plan, spec.workload, note=script_note(recommendation))
    return msgspec.structs.replace(
        conclusion,
        recommendation=msgspec.structs.replace(recommendation, script=script),
        front=tuple(
            msgspec.structs.replace(
                point, script=shell_script(planner(point.settings, None), spec.workload)
            )
            for point in conclusion.front
        ),
    )
