from __future__ import annotations

import pytest

import assay
from assay.api.functions.new_studies import tune_request as tune_function
from assay.api.options.fidelity import (
    MAX_LEVELS,
    demand_comparable,
    fidelity_parameters,
    levels_of,
    parse_fidelity,
)
from assay.cli.arguments.tune import tune_request
from assay.cli.parsing.parser import parse
from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.records import Choices, Fidelity, Range, Statistic, Value
from assay.settings.registry import builtin


@pytest.fixture(scope="module")
def host() -> Machine:
    return read_machine()


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("arg.steps=50..2000:log", (50, 171, 585, 2000)),
        ("arg.steps=50..2000", (50, 1025, 2000)),
        ("arg.steps=100..1000:300", (100, 400, 700, 1000)),
        ("arg.steps=100..1000:400", (100, 500, 900, 1000)),
        ("arg.steps=1..16:log2", (1, 2, 4, 8, 16)),
        ("arg.steps=1..2", (1, 2)),
        ("arg.epochs=1,3,9", (1, 3, 9)),
        ("arg.tolerance=0.1,0.01,0.001", (0.1, 0.01, 0.001)),
        ("arg.share=0.01..1:log", (0.01, 0.0316, 0.1, 0.316, 1.0)),
        ("env.SCALE=small,full", ("small", "full")),
    ],
)
def test_levels_follow_from_the_domain(text: str, levels: tuple[Value, ...], host: Machine) -> None:
    found = parse_fidelity(text, builtin(), host, ())
    assert found == Fidelity(name=text.partition("=")[0], levels=levels)
    assert found.full == levels[-1]


def test_levels_of_a_wide_domain_are_few() -> None:
    found = levels_of(Range(1, 10**9, log=True))
    assert len(found) == MAX_LEVELS
    assert (found[0], found[-1]) == (1, 10**9)
    assert len(levels_of(Choices(tuple(range(1, 100))))) == MAX_LEVELS


def test_absent_fidelity_gives_none(host: Machine) -> None:
    assert parse_fidelity(None, builtin(), host, ()) is None
    assert fidelity_parameters(None) == ()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("threads=1..8", "'threads' is not an argument or a variable of the program"),
        ("build.level=1,2", "'build.level' is not an argument or a variable of the program"),
        ("steps", "'steps' is not an argument or a variable of the program"),
        ("arg.steps", "is not an assignment"),
        ("arg.steps=", "is missing"),
        ("arg.steps=100", "a single value leaves nothing to begin with"),
        ("arg.steps=100..100", "a single value leaves nothing to begin with"),
        ("arg.steps=2000..50:log", "reversed"),
        ("arg.steps=0..50:log", "no logarithm"),
        ("arg.steps=5,5", "twice"),
        ("arg.n=1..4", "the search space varies arg.n as well"),
    ],
)
def test_invalid_fidelity_is_refused(text: str, cause: str, host: Machine) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_fidelity(text, builtin(), host, ("arg.n",))
    assert cause in caught.value.cause
    assert caught.value.cause.startswith("--fidelity")
    assert caught.value.remedy


def test_full_fidelity_is_the_default_of_the_parameter() -> None:
    (parameter,) = fidelity_parameters(Fidelity(name="arg.steps", levels=(5, 50)))
    assert (parameter.name, parameter.default) == ("arg.steps", 50)


def test_fidelity_takes_one_objective_and_no_spread() -> None:
    fidelity = Fidelity(name="arg.steps", levels=(5, 50))
    demand_comparable(fidelity, (), Statistic.MEDIAN)
    demand_comparable(None, ("a", "b"), Statistic.SPREAD)
    with pytest.raises(InvalidInputError, match="one objective"):
        demand_comparable(fidelity, ("a", "b"), Statistic.MEAN)
    with pytest.raises(InvalidInputError, match="spread"):
        demand_comparable(fidelity, (), Statistic.SPREAD)


@pytest.mark.parametrize(
    "given",
    [
        {"arg.steps": assay.Range(50, 2000, log=True)},
        {"arg.steps": "50..2000:log"},
        "arg.steps=50..2000:log",
    ],
)
def test_function_builds_the_request_of_the_command_line(given: object) -> None:
    words = ["tune", "arg.n=1,2", "--fidelity", "arg.steps=50..2000:log"]
    made = tune_function(["sh", "{n}", "{steps}"], {"arg.n": [1, 2]}, {"fidelity": given})
    assert made == tune_request(parse([*words, "--", "sh", "{n}", "{steps}"]))
    assert made.fidelity == "arg.steps=50..2000:log"


def test_function_refuses_several_fidelities() -> None:
    with pytest.raises(InvalidInputError, match="2 settings instead of one"):
        tune_function(["true"], None, {"fidelity": {"arg.a": [1, 2], "arg.b": [1, 2]}})


@pytest.mark.parametrize("verb", ["compare", "measure"])
def test_other_verbs_take_no_fidelity(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((SystemExit, InvalidInputError)):
        parse([verb, "--fidelity", "arg.steps=1,2", "--", "true"])


def test_fidelity_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--fidelity", "arg.n=1,2", "--fidelity=arg.m=1,2")
    with pytest.raises(SystemExit) as refused:
        parse(["tune", *words, "--", "x"])
    assert refused.value.code == 2
    error = capsys.readouterr().err
    assert "--fidelity takes one value and is given twice" in error
    assert "as in --fidelity arg.steps=50..2000:log" in error


@pytest.mark.parametrize("verb", ["compare", "measure", "sweep"])
def test_fidelity_of_another_verb_names_tune(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        parse([verb, "--fidelity", "arg.n=1,2"])
    assert refused.value.code == 2
    assert "unknown option --fidelity; it is an option of `assay tune`" in capsys.readouterr().err
