"""Storage of a session: its study, from the first trial with a value on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from assay.api.composition import opened_store
from assay.api.functions.domains import Value
from assay.api.options.study_options import budget_or_default
from assay.api.process import single_study
from assay.api.trials.continued import demand_unchanged
from assay.api.trials.own_process import own_process
from assay.api.trials.plan import SessionPlan
from assay.api.trials.state import TrialState
from assay.records import Budget, Configuration, Launch, Metric, Sample, Space
from assay.search.model.gp import GpSearcher
from assay.search.races.race import Ending
from assay.search.races.trial_race import TrialRace
from assay.search.space.named_configurations import make_search_space
from assay.store import Store
from assay.study.budget_account import BudgetAccount
from assay.study.in_process import demand_in_process
from assay.study.trials import OwnProcess, TrialStudy, begin_trials, continue_trials

UNNAMED = Metric(name="value")
"""Objective of a study whose trials have not reported one yet."""


class SessionStorage:
    """Study of a session.

    The study is created when the first trial with a value ends, since its metrics are unknown
    before. Trials that failed until then are stored with it.

    Args:
        plan: plan of the session.
    """

    def __init__(self, plan: SessionPlan) -> None:
        self._plan = plan
        self._stack = ExitStack()
        self._study: TrialStudy | None = None
        self._race: TrialRace | None = None
        self._account: BudgetAccount | None = None
        self._own: OwnProcess | None = None
        self._waiting: list[TrialState] = []
        self.space: Space | None = plan.space
        self._store: Store | None = None
        self.study_id: str | None = None
        self.last_failure = ""

    @property
    def objective(self) -> str | None:
        """Name of the objective; ``None`` if it is not known yet."""
        return self._plan.metric if self._study is None else self._metrics[0].name

    @property
    def metric_names(self) -> tuple[str, ...] | None:
        """Names of the metrics; ``None`` if the next trial determines them."""
        return None if self._study is None else tuple(metric.name for metric in self._metrics)

    @property
    def defaults(self) -> dict[str, Value]:
        """Default values by name; empty before a study is continued."""
        parameters = () if self.space is None else self.space.parameters
        return {p.name: p.default for p in parameters if p.default is not None}

    def values_of(self, configuration: Configuration) -> Mapping[str, Value]:
        """Return the values of a configuration, defaults included."""
        return {**self.defaults, **configuration}

    def ask(self) -> Launch | Ending:
        """Return the next trial, or the end of the trials of this process.

        Raises:
            AssayError: the study cannot begin or continue.
        """
        if self._account is None:
            self._begin()
        assert self._account is not None
        if self._study is not None:
            return self._study.ask()
        assert self._race is not None
        answer = self._race.ask(1, self._account.left)
        return answer if isinstance(answer, Ending) else answer[0]

    def tell(self, state: TrialState) -> None:
        """Store an ended trial.

        Raises:
            InvalidInputError: the goal of the objective is unknown.
        """
        if self._study is None:
            self._waiting.append(state)
            if state.failure is not None or not state.reports:
                assert self._race is not None
                self._keep_reason(sample := state.sample((UNNAMED,)))
                self._race.tell(sample)
                return
            self._create(state.reports.names)
            return
        self._add(state)

    def close(self, ending: Ending | None) -> None:
        """Release the study and the store.

        Args:
            ending: end of the trials of this process; ``None`` if they were interrupted.
        """
        with self._stack:
            if self._study is not None:
                self._study.close(ending)

    def _begin(self) -> None:
        """Open the store, and continue the study if one was named.

        An error releases everything, so that another study may begin.
        """
        with ExitStack() as opened:
            opened.enter_context(single_study())
            self._store = opened.enter_context(opened_store(self._plan.db))
            self._own = own_process()
            if self._plan.study is not None:
                self._continue(self._store, self._plan.study, self._own)
            else:
                self._prepare()
            self._stack = opened.pop_all()

    def _prepare(self) -> None:
        """Begin the search of a new study, which its first value creates."""
        budget = budget_or_default(self._plan.budget)
        self._account = BudgetAccount(budget)
        spec = self._plan.provisional((UNNAMED,), budget)
        self._race = TrialRace(spec, make_search_space(spec.space), GpSearcher())

    def _continue(self, store: Store, name: str, own: OwnProcess) -> None:
        record = store.study(store.find(name))
        demand_in_process(record)
        demand_unchanged(self._plan, record)
        budget = self._plan.budget
        account = BudgetAccount(budget if budget != Budget() else record.spec.budget)
        self._study = continue_trials(
            store, record, own, account, new_stratum=self._plan.new_stratum
        )
        self._account = account
        self.space, self.study_id = record.spec.space, record.id

    def _create(self, names: tuple[str, ...]) -> None:
        """Create the study, and store the trials that have ended."""
        assert self._store is not None and self._account is not None and self._own is not None
        spec = self._plan.specification(names, self._account.budget)
        self._study = begin_trials(self._store, spec, self._own, self._account)
        self.study_id = self._study.id
        for state in self._waiting:
            self._add(state)
        self._waiting = []

    def _add(self, state: TrialState) -> None:
        assert self._study is not None
        self._keep_reason(sample := state.sample(self._metrics))
        self._study.tell(sample)

    def _keep_reason(self, sample: Sample) -> None:
        if sample.message is not None:
            self.last_failure = f"Last failure: {sample.message}."

    @property
    def _metrics(self) -> tuple[Metric, ...]:
        assert self._study is not None
        return self._study.spec.workload.metrics
