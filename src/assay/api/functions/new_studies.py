"""Public functions that begin a study."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from assay.api.functions.argument_types import is_list
from assay.api.functions.domains import (
    Settings,
    Space,
    domain_texts,
    fidelity_text,
    setting_texts,
)
from assay.api.functions.fields import (
    Command,
    Commands,
    Keywords,
    arm_text,
    decision_fields,
    disturbed_above_of,
    given_budget_of,
    imported_of,
    observations_of,
    study_fields,
    words_of,
    workload_options,
)
from assay.api.functions.keywords import (
    CalibrateKeywords,
    CompareKeywords,
    MeasureKeywords,
    SweepKeywords,
    TuneKeywords,
)
from assay.api.functions.known_keywords import demand_known
from assay.api.functions.public import with_keywords
from assay.api.functions.quantities import count_text, path_text, share_text, texts
from assay.api.functions.session import result_of, session
from assay.api.functions.sweep_request import sweep_request
from assay.api.options.option_values import parse_slots
from assay.api.options.study_options import parse_precision, parse_warmup
from assay.api.options.workload import demand_one_objective, several_objectives
from assay.api.results.result import Result
from assay.api.studies.calibrating import calibrate as execute_calibrate
from assay.api.studies.comparing import compare as execute_compare
from assay.api.studies.measuring import measure as execute_measure
from assay.api.studies.sweeping import sweep as execute_sweep
from assay.api.studies.tuning import tune as execute_tune
from assay.errors import InvalidInputError
from assay.records import Budget, Statistic
from assay.requests.calibrate import DEFAULT_CALIBRATION_S, CalibrateRequest
from assay.requests.compare import ComparedCommand, CompareRequest
from assay.requests.measure import MeasureRequest
from assay.requests.tune import TuneRequest
from assay.search.races.single_objective import reject_options
from assay.study.result import StudyResult


@with_keywords(TuneKeywords)
def tune(
    command: Command, settings: Space | None = None, **options: Unpack[TuneKeywords]
) -> Result:
    """Search for the best configuration of a program, and prove its gain.

    Args:
        command: words of the command; ``{NAME}`` is replaced by the value of ``arg.NAME``.
        settings: settings to vary, with lists, ranges or texts of values (default: settings that
            may matter on this machine).
        **options: see ``TuneKeywords``.

    Returns:
        Result with the recommendation.

    Raises:
        AssayError: a value is invalid, or the study fails.

    Examples:
        >>> import assay
        >>> result = assay.tune(["sleep", "{s}"], {"arg.s": [0.02, 0.01]}, runs=60)
        >>> dict(result.recommendation.settings)
        {'arg.s': 0.01}
    """
    request = tune_request(command, settings, options)
    with session(options, begins=True) as context:
        found = execute_tune(request, context)
    assert isinstance(found, StudyResult)
    return result_of(found, path_text(options.get("db")))


def tune_request(
    command: Command, settings: Space | None, given: Keywords, *, dry_run: bool = False
) -> TuneRequest:
    """Return the request of ``tune``.

    Raises:
        InvalidInputError: a value is invalid.
    """
    demand_known(given, TuneKeywords, "tune")
    argv = words_of(command, shell=bool(given.get("shell")))
    options = workload_options(given, compares=True)
    objectives = several_objectives(options)
    warm_start = texts(given.get("warm_start"))
    if objectives:
        reject_options(
            {
                "--require": options.require,
                "--parallel": options.parallel,
                "history": given.get("history"),
                "--warm-start": [word for word in warm_start if word != "none"],
            }
        )
    return TuneRequest(
        **study_fields(given, options, argv),
        **decision_fields(given, options),
        settings=domain_texts(settings),
        space_file=path_text(given.get("space")),
        constraints=texts(given.get("constraints")),
        objectives=objectives,
        parallel=parse_slots(options.parallel),
        warm_start=warm_start,
        history=imported_of(given.get("history")),
        dry_run=dry_run,
        fidelity=fidelity_text(given.get("fidelity")),
    )


@with_keywords(CompareKeywords)
def compare(commands: Commands, **options: Unpack[CompareKeywords]) -> Result:
    """Compare commands, or configurations of one command, in interleaved blocks.

    Args:
        commands: commands to compare, the baseline first, or commands by name; with ``arms`` or
            ``space`` the words of one command.
        **options: see ``CompareKeywords``.

    Returns:
        Result with a claim for each further command or arm.

    Raises:
        AssayError: a value is invalid, or the study fails.

    Examples:
        >>> import assay
        >>> result = assay.compare([["sleep", "0.02"], ["sleep", "0.01"]], runs=40)
        >>> str(result.claims[0].verdict)
        'faster'
    """
    request = compare_request(commands, options)
    with session(options, begins=True) as context:
        found = execute_compare(request, context)
    return result_of(found, path_text(options.get("db")))


def compare_request(commands: Commands, given: Keywords) -> CompareRequest:
    """Return the request of ``compare``.

    Raises:
        InvalidInputError: a value is invalid, or the arms are missing or ambiguous.
    """
    demand_known(given, CompareKeywords, "compare")
    shell = bool(given.get("shell"))
    options = workload_options(given, compares=True)
    demand_one_objective(options, "compare")
    names, space = texts(given.get("names")), path_text(given.get("space"))
    arm_names, arms = _named(given.get("arms") or ())
    command_names, given_commands = _named(commands)
    compared: tuple[ComparedCommand, ...] = ()
    if arms or space:
        argv = words_of(_one_command(given_commands), shell=shell)
    else:
        several = _several_commands(given_commands, shell=shell)
        compared = tuple(_compared(one, shell=shell) for one in several)
        argv = compared[0].argv
    return CompareRequest(
        **study_fields(given, options, argv),
        **decision_fields(given, options),
        commands=compared,
        arms=tuple(map(arm_text, arms)),
        names=names or arm_names or command_names,
        space_file=space,
        warmup=parse_warmup(count_text(given.get("warmup"))),
    )


def _named(values: Any) -> tuple[tuple[str, ...], Any]:
    """Return the names of values, and the values without them; values in a list have no names."""
    if not isinstance(values, Mapping):
        return (), values
    return tuple(map(str, values)), tuple(values.values())


def _one_command(commands: Command) -> Command:
    if is_list(commands) and not all(isinstance(word, str) for word in commands):
        raise InvalidInputError(
            "Commands and arms cannot be mixed.", "Give one command: its words, or one text."
        )
    return commands


def _several_commands(commands: Sequence[Command], *, shell: bool) -> Sequence[Command]:
    """Return the commands to compare.

    Raises:
        InvalidInputError: there is only one.
    """
    if not is_list(commands) or len(commands) < 2 or (not shell and _is_one_command(commands)):
        raise InvalidInputError(
            "A comparison needs at least two commands, or arms of one command.",
            "Give a list of commands: [['./old'], ['./new']].",
        )
    return commands


def _is_one_command(commands: Sequence[Command]) -> bool:
    """Return whether texts are the words of one command: no later one can be a program."""
    return isinstance(commands[0], str) and not any(map(_may_be_command, commands[1:]))


def _may_be_command(command: Command) -> bool:
    if not isinstance(command, str) or any(part in command for part in " /{"):
        return True
    return shutil.which(command) is not None


def _compared(command: Command, *, shell: bool) -> ComparedCommand:
    argv = words_of(command, shell=shell)
    name = command if isinstance(command, str) else shlex.join(argv)
    return ComparedCommand(name=name, argv=argv)


@with_keywords(MeasureKeywords)
def measure(
    command: Command, settings: Settings | None = None, **options: Unpack[MeasureKeywords]
) -> Result:
    """Launch one configuration repeatedly, until its mean is precise enough.

    Args:
        command: words of the command.
        settings: configuration, with values by name (default: that of the system).
        **options: see ``MeasureKeywords``.

    Returns:
        Result with the summary of the arm.

    Raises:
        AssayError: a value is invalid, or the study fails.

    Examples:
        >>> import assay
        >>> result = assay.measure(["sleep", "0.01"], runs=8)
        >>> result.arms[0].summary["wall_s"].mean > 0.01
        True
    """
    request = measure_request(command, settings, options)
    with session(options, begins=True) as context:
        found = execute_measure(request, context)
    return result_of(found, path_text(options.get("db")))


def measure_request(command: Command, settings: Settings | None, given: Keywords) -> MeasureRequest:
    """Return the request of ``measure``.

    Raises:
        InvalidInputError: a value is invalid.
    """
    demand_known(given, MeasureKeywords, "measure")
    argv = words_of(command, shell=bool(given.get("shell")))
    options = workload_options(given, compares=False)
    demand_one_objective(options, "measure")
    if decision_fields(given, options)["statistic"] is not Statistic.MEAN:
        raise InvalidInputError(
            "measure takes the mean as its objective.",
            "Name the metric alone; result.arms[0].summary has quartiles too.",
        )
    return MeasureRequest(
        **study_fields(given, options, argv),
        settings=setting_texts(settings),
        precision=parse_precision(share_text(given.get("precision"))),
        warmup=parse_warmup(count_text(given.get("warmup"))),
    )


@with_keywords(SweepKeywords)
def sweep(file: str | os.PathLike[str], **options: Unpack[SweepKeywords]) -> Result:
    """Run the designed experiment of a file.

    Args:
        file: path of the TOML file.
        **options: see ``SweepKeywords``.

    Returns:
        Result with a claim for each cell.

    Raises:
        AssayError: the file or a value is invalid, or the study fails.

    Examples:
        >>> import assay, pathlib
        >>> _ = pathlib.Path("experiment.toml").write_text('''
        ... [workload]
        ... command = "sleep {s}"
        ... [settings]
        ... "arg.s" = [0.02, 0.01]
        ... ''')
        >>> result = assay.sweep("experiment.toml", runs=40)
        >>> len(result.arms)
        2
    """
    request = sweep_request(file, options)
    with session(options, begins=True) as context:
        found = execute_sweep(request, context)
    assert isinstance(found, StudyResult)
    return result_of(found, path_text(options.get("db")))


@with_keywords(CalibrateKeywords)
def calibrate(command: Command | None = None, **options: Unpack[CalibrateKeywords]) -> Result:
    """Measure the noise of this machine with two identical arms.

    Args:
        command: words of the command (default: a built-in load).
        **options: see ``CalibrateKeywords``; the default budget is 3 minutes.

    Returns:
        Result whose ``conclusion.calibration`` has the noise.

    Raises:
        AssayError: a value is invalid, or the study fails.

    Examples:
        >>> import assay
        >>> result = assay.calibrate(["true"], runs=60)
        >>> result.conclusion.calibration is not None
        True
    """
    demand_known(options, CalibrateKeywords, "calibrate")
    budget = given_budget_of(options)
    request = CalibrateRequest(
        argv=None if command is None else words_of(command),
        budget=Budget(time_s=DEFAULT_CALIBRATION_S) if budget == Budget() else budget,
        seed=options.get("seed") or 0,
        disturbed_above=disturbed_above_of(options),
        observe=observations_of(options),
    )
    with session(options, begins=True) as context:
        found = execute_calibrate(request, context)
    return result_of(found, path_text(options.get("db")))
