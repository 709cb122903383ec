"""The documents that pass between the floors, as versioned JSON.

All are frozen ``msgspec`` structures: decoding checks types, an absent value has no key, and later
versions may add keys but rename none.
"""

from assay.records.action import (
    Action,
    Affinity,
    Arg,
    Build,
    Command,
    EnvSet,
    Instances,
    IoPriority,
    MemPolicy,
    PageCache,
    Prctl,
    Preload,
    Rlimit,
    Sched,
    Unpreload,
    Wrap,
)
from assay.records.calibration import (
    Calibration,
    FalseVerdicts,
    MachineFloor,
    SmallestGain,
)
from assay.records.claim import Claim, Recommendation, Spread, SpreadVerdict, Verdict
from assay.records.codec import decode, encode, to_builtins
from assay.records.configuration import DEFAULT, Configuration, Value
from assay.records.design import (
    Design,
    DesignKind,
    EffectKind,
    EffectVerdict,
    FactorEffect,
)
from assay.records.domain import AnyText, Choices, Domain, Range, check
from assay.records.facts import Counter, InstanceFacts, RunFacts, Seen
from assay.records.front import FrontPoint, OffFront
from assay.records.launch import Arm, Launch, Stage
from assay.records.output import Hashed, Output
from assay.records.plan import Level, Plan, Prospect, Scope, Word
from assay.records.requirement import (
    Bound,
    Requirement,
    RequirementResult,
    RequirementVerdict,
)
from assay.records.sample import Evidence, Grant, Granted, Outcome, Sample
from assay.records.space import Parameter, Space
from assay.records.study import (
    ArmResult,
    Budget,
    Conclusion,
    Interference,
    Kind,
    Modes,
    Statistic,
    Status,
    Stratum,
    StudySpec,
    Summary,
    Switching,
)
from assay.records.warm import Earlier, Known
from assay.records.workload import Combine, Goal, Hooks, Limits, Metric, Recipe, Workload

__all__ = [
    "Action",
    "Affinity",
    "AnyText",
    "Arg",
    "Arm",
    "ArmResult",
    "Bound",
    "Budget",
    "Build",
    "Calibration",
    "Choices",
    "Claim",
    "Combine",
    "Command",
    "Conclusion",
    "Configuration",
    "Counter",
    "DEFAULT",
    "Design",
    "DesignKind",
    "Domain",
    "Earlier",
    "EffectKind",
    "EffectVerdict",
    "EnvSet",
    "Evidence",
    "FactorEffect",
    "FalseVerdicts",
    "FrontPoint",
    "Goal",
    "Grant",
    "Granted",
    "Hashed",
    "Hooks",
    "InstanceFacts",
    "Instances",
    "Interference",
    "IoPriority",
    "Kind",
    "Known",
    "Launch",
    "Level",
    "Limits",
    "MachineFloor",
    "MemPolicy",
    "Metric",
    "Modes",
    "OffFront",
    "Outcome",
    "Output",
    "PageCache",
    "Parameter",
    "Plan",
    "Prctl",
    "Preload",
    "Prospect",
    "Range",
    "Recipe",
    "Recommendation",
    "Requirement",
    "RequirementResult",
    "RequirementVerdict",
    "Rlimit",
    "RunFacts",
    "Sample",
    "Sched",
    "Scope",
    "Seen",
    "SmallestGain",
    "Space",
    "Spread",
    "SpreadVerdict",
    "Stage",
    "Statistic",
    "Status",
    "Stratum",
    "StudySpec",
    "Summary",
    "Switching",
    "Unpreload",
    "Value",
    "Verdict",
    "Word",
    "Workload",
    "Wrap",
    "check",
    "decode",
    "encode",
    "to_builtins",
]
