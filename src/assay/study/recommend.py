"""The recommendation: a winner with a way to run it again without assay."""

from __future__ import annotations

import msgspec

from assay.launch.script import shell_script
from assay.records import Conclusion, StudySpec
from assay.study.loop import Planner


def with_script(conclusion: Conclusion, spec: StudySpec, planner: Planner) -> Conclusion:
    """The conclusion with the script that runs what it recommends."""
    recommendation = conclusion.recommendation
    if recommendation is None:
        return conclusion
    script = shell_script(planner(recommendation.settings, None), spec.workload)
    return msgspec.structs.replace(
        conclusion, recommendation=msgspec.structs.replace(recommendation, script=script)
    )
