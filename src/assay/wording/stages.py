"""Names of the stages of a study, for displays of its progress."""

from __future__ import annotations

from assay.records import Stage

STAGE_NAMES = {
    Stage.SURVEY: "surveying",
    Stage.GAUGE: "timing the default",
    Stage.INTERFERENCE: "launching side by side",
    Stage.SCREEN: "searching at low fidelity",
    Stage.SEARCH: "searching",
    Stage.REDUCE: "leaving settings out",
    Stage.CONFIRM: "confirming",
}
