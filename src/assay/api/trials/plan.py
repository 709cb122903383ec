"""Plan of a session: the parts of a study that are known before its first trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.api.functions.domains import Value
from assay.api.functions.fields import given_budget_of, imported_of
from assay.api.functions.known_keywords import demand_known
from assay.api.functions.progress import Progress
from assay.api.functions.quantities import share_text, texts
from assay.api.options.study_options import parse_margin
from assay.api.trials.free_space import FreeSpace, free_space
from assay.api.trials.goals import checked_goal, checked_progress, further_metric, metric_of
from assay.api.trials.keywords import SessionOptions
from assay.api.trials.own_process import own_words
from assay.api.trials.reports import demand_reportable
from assay.errors import InvalidInputError
from assay.records import Budget, ImportedTrials, Kind, Metric, Space, StudySpec, Workload
from assay.records.study import DEFAULT_MARGIN
from assay.search.space.named_configurations import make_search_space
from assay.search.space.search_space import SearchSpace
from assay.search.space.setting_count import demand_searchable
from assay.study.warm_start import with_history


@dataclass(frozen=True)
class SessionPlan:
    """Plan of a session.

    Attributes:
        study: id, or beginning of one, of the study to continue; ``None`` for a new one.
        space: space of the study; ``None`` for that of the continued study.
        budget: budget of this process; without limits if none is given.
        metric: name of the objective; ``None`` if the first trial determines it.
        goal, unit, progress: see ``SessionOptions``.
        default: given default values by name.
        constraints: given expressions that every configuration satisfies.
        history: trials of other tools that guide the search.
        margin: margin of equivalence of ratios; ``None`` for the default or the stored one.
        seed: seed of all random choices; ``None`` for the default or the stored one.
        new_stratum: start of a new stratum.
        db: path or URL of the store.
    """

    study: str | None
    space: Space | None
    budget: Budget
    metric: str | None
    goal: str | None
    unit: str
    progress: Progress | None
    default: Mapping[str, Value]
    constraints: tuple[str, ...]
    history: tuple[ImportedTrials, ...]
    margin: float | None
    seed: int | None
    new_stratum: bool
    db: str | None

    def specification(self, names: tuple[str, ...], budget: Budget) -> StudySpec:
        """Return the specification of a new study.

        Args:
            names: names of the metrics, in the order of their first report.
            budget: budget of each process.

        Raises:
            InvalidInputError: the goal of the objective is unknown.
        """
        objective = self.metric or names[0]
        first = metric_of(objective, self.goal, self.unit, self.progress)
        others = (further_metric(name) for name in names if name != objective)
        spec = self.provisional((first, *others), budget)
        return with_history(spec, self.history, make_search_space(spec.space))

    def demand_goal(self, name: str) -> None:
        """Raise an error if the goal of a metric is unknown.

        Raises:
            InvalidInputError: the goal is neither given nor clear from the name.
        """
        metric_of(name, self.goal, self.unit, self.progress)

    def provisional(self, metrics: tuple[Metric, ...], budget: Budget) -> StudySpec:
        """Return a specification with any metrics.

        Args:
            metrics: metrics, the objective first.
            budget: budget of each process.
        """
        assert self.space is not None
        return StudySpec(
            kind=Kind.TUNE,
            workload=Workload(
                argv=own_words(),
                metrics=metrics,
                requested_metrics=tuple(metric.name for metric in metrics),
                outputs_may_differ=True,
            ),
            budget=budget,
            space=self.space,
            margin=DEFAULT_MARGIN if self.margin is None else self.margin,
            seed=self.seed or 0,
            disturbed_above=None,
            requested_observations=(),
            in_process=True,
        )


def session_plan(
    space: FreeSpace | None, study: str | None, options: SessionOptions
) -> SessionPlan:
    """Return the plan of a session.

    Raises:
        InvalidInputError: a value is invalid, or the space is missing.
    """
    demand_known(options, SessionOptions, "Session")
    default, constraints = options.get("default") or {}, texts(options.get("constraints"))
    found = None
    if space is not None or study is None:
        found = free_space(space or {}, default, constraints)
        demand_searchable(found)
        SearchSpace(found)
    progress = checked_progress(options.get("progress"))
    metric = options.get("metric")
    if progress is not None and metric not in (None, progress.name):
        raise InvalidInputError(
            f"metric is {metric}, but the progress is that of {progress.name}.",
            "Give one of the two.",
        )
    name = progress.name if progress is not None else metric
    if name is not None:
        demand_reportable(name)
    goal = options.get("goal") or (progress.goal if progress is not None else None)
    return SessionPlan(
        study=study,
        space=found,
        budget=given_budget_of(options),
        metric=name,
        goal=checked_goal(goal),
        unit=options.get("unit") or (progress.unit if progress is not None else ""),
        progress=progress,
        default=default,
        constraints=constraints,
        history=imported_of(options.get("history")),
        margin=parse_margin(share_text(options.get("margin"))),
        seed=options.get("seed"),
        new_stratum=bool(options.get("new_stratum")),
        db=options.get("db"),
    )
