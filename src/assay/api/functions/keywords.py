"""Keyword arguments of the public functions.

Each one has the name and the meaning of an option of the command line. Values are Python values or
the text of the option.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from assay.api.functions.domains import Domain
from assay.api.functions.progress import ProgressSources
from assay.api.functions.quantities import Duration, Named, Share, Texts
from assay.api.functions.study_names import StudyName
from assay.records import ImportedTrials

FilePath: TypeAlias = str | os.PathLike[str]
"""Path of a file."""
ConfigurationValues: TypeAlias = Mapping[str, str | int | float | bool]
"""One configuration, with values by name."""


class SessionKeywords(TypedDict, total=False):
    """Keywords of all functions that launch programs.

    Attributes:
        db: path or URL of the store (default: ``ASSAY_DB``, or assay/assay.db in the user's state
            folder).
        progress_bar: display of the progress (default: true).
    """

    db: FilePath | None
    progress_bar: bool


class BudgetKeywords(TypedDict, total=False):
    """Limits of a study.

    Attributes:
        budget: time to spend (default: 10 minutes, if ``runs`` is absent too).
        runs: number of launches to spend (default: no limit).
    """

    budget: Duration | None
    runs: int | str | None


class ReservationKeywords(TypedDict, total=False):
    """Share of a partition for the launches.

    Attributes:
        reserve: share, such as ``"cpus=2,mem=4G"`` (default: none).
        partition: partition to reserve from (default: the only one that exists).
    """

    reserve: str | None
    partition: str | None


class BuildKeywords(TypedDict, total=False):
    """Build of the program of each configuration.

    Attributes:
        build: command that builds the program into ``{build}``, as one text (default: none).
        build_input: source files or folders of the build (default: files named in the command).
        build_timeout: time limit of a build (default: ten times the longest so far, at least 1m).
    """

    build: str | None
    build_input: Texts
    build_timeout: Duration | None


class BootKeywords(TypedDict, total=False):
    """Settings of boot and firmware.

    Attributes:
        confirm: current values of firmware settings that assay cannot read, by name.
    """

    confirm: Named


class VerifiedBootKeywords(BootKeywords, total=False):
    """Settings of boot and firmware of a new study.

    Attributes:
        confirm: current values of firmware settings that assay cannot read, by name.
        verify: sources of such values, by name: a file, or ``!`` and a command.
    """

    verify: Named


class ObservationKeywords(TypedDict, total=False):
    """Observations of the launches.

    Attributes:
        disturbed_above: CPU share of other processes above which a block counts as disturbed, or
            ``"never"`` (default: 0.1, or ASSAY_DISTURBED_ABOVE).
        observe: ``"all"``, ``"none"`` or names of observations (default: memory and scheduling).
    """

    disturbed_above: Share | None
    observe: Texts | None


class WorkloadKeywords(BuildKeywords, total=False):
    """Program, its metrics and its limits.

    Attributes:
        metrics: metrics to measure: names of built-in ones, ``NAME=REGEX``, or regular expressions
            by name.
        metric_file: files that metrics are read from, by name (default: the output).
        unit: units of metrics, by name.
        goal: ``"lower"`` or ``"higher"``, or directions by name.
        metric_as_is: metrics whose matches may look like a part of a longer number.
        combine: how values of several instances are combined, by name.
        objective: metric to decide by, with ``:median`` or ``:spread`` (default: mean of wall
            time, or of the first metric).
        require: requirements to meet, such as ``"peak_anon_bytes<=200MiB"``.
        progress: metrics that the program reports while it runs; the first is the objective.
        until: end of a launch: ``"auto"`` or ``"steady:N"`` (default: its own end).
        outputs_may_differ: acceptance of arms whose outputs differ (default: false).
        input: file for standard input (default: /dev/null).
        shell: true if a command is one text for a shell (default: false).
        check: regular expression that the output of a successful launch matches.
        timeout: time limit of a launch (default: none).
        grace: time between the request to end and SIGKILL (default: 10 seconds).
        limit: resource limits of a launch: ``"mem=2G,procs=64"``, or limits by name.
        setup: command that runs once before the launches.
        prepare: command that runs before each launch.
        cleanup: command that runs once after the launches.
        stop: command that ends a launch (default: SIGTERM).
    """

    metrics: Named
    metric_file: Named
    unit: Named
    goal: Named
    metric_as_is: Texts
    combine: Named
    objective: Texts
    require: Texts
    progress: ProgressSources
    until: str | None
    outputs_may_differ: bool
    input: FilePath | None
    shell: bool
    check: str | None
    timeout: Duration | None
    grace: Duration | None
    limit: str | Mapping[str, str | int | float] | None
    setup: str | None
    prepare: str | None
    cleanup: str | None
    stop: str | None


class MeasureKeywords(
    WorkloadKeywords,
    BudgetKeywords,
    ObservationKeywords,
    ReservationKeywords,
    VerifiedBootKeywords,
    SessionKeywords,
    total=False,
):
    """Keywords of ``assay.measure``.

    Attributes:
        precision: half the confidence interval of the mean at which the study ends, as a share of
            the mean (default: 1 %).
        warmup: number of warm-up launches (default: until launches get no faster).
        seed: seed of all random choices (default: 0).
    """

    precision: Share | None
    warmup: int | str | None
    seed: int


class DecisionKeywords(
    WorkloadKeywords,
    BudgetKeywords,
    ObservationKeywords,
    ReservationKeywords,
    VerifiedBootKeywords,
    SessionKeywords,
    total=False,
):
    """Keywords of functions that decide between arms.

    Attributes:
        seed: seed of all random choices (default: 0).
        margin: margin of equivalence, as a share (default: 1 %; of a spread 25 %).
        null: launches of the default as a second arm, which measure the noise floor (default:
            false).
    """

    seed: int
    margin: Share | None
    null: bool


class CompareKeywords(DecisionKeywords, total=False):
    """Keywords of ``assay.compare``.

    Attributes:
        arms: settings of each arm of one command, or names of configurations of ``space``; by the
            names of the arms if they are a mapping.
        names: names of the arms, in their order.
        space: path of a TOML file with named configurations.
        warmup: number of warm-up launches of each arm (default: 1).
    """

    arms: Sequence[ConfigurationValues | str] | Mapping[str, ConfigurationValues | str]
    names: Texts
    space: FilePath | None
    warmup: int | str | None


class TuneKeywords(DecisionKeywords, total=False):
    """Keywords of ``assay.tune``.

    Attributes:
        space: path of a TOML file with domains, constraints and named configurations.
        constraints: expressions that every configuration satisfies.
        parallel: number of slots that the CPUs are divided into (default: one launch at a time).
        warm_start: earlier studies that guide the search, or ``"auto"``.
        history: trials of another tool that guide the search, such as those of
            ``assay.optuna.read_study`` (default: none).
        search_on: partition to search on as a whole.
        fidelity: setting with cheap values, which the search begins with:
            ``{"arg.steps": Range(50, 2000, log=True)}``, or text as on the command line (default:
            every launch is whole).
    """

    space: FilePath | None
    constraints: Texts
    parallel: int | str | None
    warm_start: Texts
    history: ImportedTrials | Sequence[ImportedTrials] | None
    search_on: str | None
    fidelity: Mapping[str, Domain] | str | None


class SweepKeywords(
    BudgetKeywords,
    ObservationKeywords,
    ReservationKeywords,
    VerifiedBootKeywords,
    SessionKeywords,
    total=False,
):
    """Keywords of ``assay.sweep``, which override the file.

    Attributes:
        seed: seed of all random choices (default: that of the file).
        margin: margin of equivalence, as a share (default: that of the file).
        null: launches of the baseline as a second arm (default: that of the file).
    """

    seed: int | None
    margin: Share | None
    null: bool


class CalibrateKeywords(BudgetKeywords, ObservationKeywords, SessionKeywords, total=False):
    """Keywords of ``assay.calibrate``.

    Attributes:
        seed: seed of all random choices (default: 0).
    """

    seed: int


class ResumeKeywords(BudgetKeywords, BootKeywords, SessionKeywords, total=False):
    """Keywords of ``assay.resume``.

    Attributes:
        budget: time to spend beyond the spent time (default: the rest of the study's own budget).
        runs: number of launches beyond those of the study (default: the rest of its own budget).
        new_stratum: start of a new stratum for a changed program or machine (default: false).
    """

    budget: Duration | None
    runs: int | str | None
    new_stratum: bool


class ConfirmKeywords(BudgetKeywords, SessionKeywords, total=False):
    """Keywords of ``assay.confirm``.

    Attributes:
        point: point of the Pareto front, by number or settings.
        disturbed_above: CPU share of other processes above which a block counts as disturbed, or
            ``"never"`` (default: that of the study).
    """

    point: str | int | None
    disturbed_above: Share | None


class RunKeywords(BuildKeywords, ReservationKeywords, total=False):
    """Keywords of ``assay.run`` and ``assay.explain``.

    Attributes:
        study: study whose recommendation is applied.
        point: point of the Pareto front of the study, by number or settings.
        cell: cell of a sweep or arm of a comparison.
        unproven: acceptance of a recommendation that is not proven (default: false).
        outputs_may_differ: acceptance of a recommendation that changes the output (default: false).
        observe: ``"all"``, ``"none"`` or names of observations (default: memory and scheduling).
        db: path or URL of the store (default: as in ``SessionKeywords``).
    """

    study: StudyName | None
    point: str | int | None
    cell: str | None
    unproven: bool
    outputs_may_differ: bool
    observe: Texts | None
    db: FilePath | None
