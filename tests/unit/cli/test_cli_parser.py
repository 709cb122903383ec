"""Words and options of a command line, their order, and usage errors."""

from __future__ import annotations

import argparse
import importlib
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.main import main
from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.options import add_common_options
from assay.cli.parsing.parser import parse, verb_parsers
from assay.cli.parsing.usage import columns
from assay.errors import InvalidInputError

POSITIONALS = {"action", "name", "settings", "words"}
"""Arguments of verbs with actions that are not options."""


def usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the last line of the error on words that cannot be parsed."""
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()[-1]


LINES = [
    ("study", ["show", "last"], [["--json"], ["-q"], ["--db", "x.db"]]),
    ("study", ["resume", "last"], [["--runs", "5"], ["--export", "x.md"], ["--new-stratum"]]),
    ("settings", ["show", "malloc"], [["--json"], ["-v"]]),
    ("report", ["last"], [["-o", "x.html"], ["--json"], ["--color", "never"]]),
    ("tune", ["nice=0,5", "threads=1,2"], [["--runs", "9"], ["--margin=2%"], ["--null"]]),
    ("compare", ["xz -1 f", "xz -9 f"], [["--name", "A"], ["--name", "B"], ["--fail-if", "same"]]),
]


@given(st.sampled_from(LINES), st.randoms(use_true_random=False))
def test_words_and_options_may_be_in_any_order(
    line: tuple[str, list[str], list[list[str]]], rng: object
) -> None:
    verb, words, options = line
    expected = parse([verb, *words, *(part for option in options for part in option)]).arguments
    kinds = [True] * len(words) + [False] * len(options)
    rng.shuffle(kinds)  # type: ignore[attr-defined]
    left, right = iter(words), iter(options)
    mixed = [part for word in kinds for part in ([next(left)] if word else next(right))]
    assert parse([verb, *mixed]).arguments == expected


def test_unexpected_argument_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["settings", "show", "nice", "thp"], ["report", "last", "x"], ["run", "./app"]):
        assert f"unexpected argument {words[-1]!r}" in usage_error(words, capsys)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--budget", "-5s"), ("--margin", "-1%"), ("--timeout", "-.5s"), ("--runs", "-3")],
)
def test_a_value_below_zero_is_judged_as_a_value(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--dry-run", "nice=0,5", option, value, "--", "true"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"assay: {option}: {value!r} is not a ")
    assert second.startswith("  ")


def valued() -> list[str]:
    """Return every option of any verb that takes a value."""
    verbs = next(a for a in build()._actions if isinstance(a, argparse._SubParsersAction))
    return [
        f"{verb} {action.option_strings[-1]}"
        for verb, parser in verbs.choices.items()
        for action in parser._actions
        if action.option_strings and action.nargs in (None, "+")
    ]


@pytest.mark.parametrize("line", valued())
def test_option_without_value_yields_example(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    verb, option = line.split()
    assert f"{option} needs a value, as in {option} " in usage_error([verb, option], capsys)
    assert "expected" not in usage_error([verb, option, "--verbose"], capsys)
    if option not in ("--arm", "--color", "--seed", "--idle", "--how", "--numa", "--samples"):
        needed = {
            "report": ["last"],
            "study": ["resume", "last"],
            "machine": ["check"],
            "partition": ["list"],
            "case": ["list"],
            "tier": ["doctor"],
            "completion": ["bash"],
        }
        words = needed.get(verb, [])
        assert f"{option} needs a value" in usage_error([verb, *words, f"{option}="], capsys)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tnue"], "did you mean tune?"),
        (["study", "shwo"], "did you mean show?"),
        (["study", "--color", "red", "list"], "'red' is not one of auto, always, never"),
        (["--json", "study", "list"], "write --json after the verb: assay study --json"),
        (["measure", "--seed", "x"], "--seed takes a whole number from 0 on, not 'x'"),
        (["measure", "--seed=-1"], "--seed takes a whole number from 0 on, not '-1'"),
        (["sweep", "--seed=-1"], "--seed takes a whole number from 0 on, not '-1'"),
    ],
)
def test_invalid_word_yields_valid_ones(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in usage_error(words, capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["study", "list", "last"],
        ["study", "show", "last", "--export", "x.md"],
        ["study", "delete", "last", "--runs", "5"],
        ["study", "list", "--new-stratum"],
        ["settings", "list", "malloc"],
        ["tier", "bench", "--keep-free", "1G"],
        ["tier", "predict", "--data", "2"],
        ["tier", "top", "--work", "stream"],
    ],
)
def test_option_of_other_action_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert f"`assay {words[0]} {words[1]}` takes no " in first
    assert "assay" in second


def test_errors_of_values_name_the_option() -> None:
    from assay.api.options.option_values import parse_count, parse_quantity
    from assay.units import parse_share

    with pytest.raises(
        InvalidInputError, match=r"^--margin: '7' is not a share above 0 and below 100 %"
    ):
        parse_quantity("--margin", "7", parse_share)
    for text in ("0", "-1", "1.5", "ten", ""):
        with pytest.raises(InvalidInputError, match=r"^--many: '.*' is not a number of things"):
            parse_count("--many", text, 10, "things", "--many 3")
    for text in ("11", "9" * 5000):
        with pytest.raises(InvalidInputError, match=r"exceeds the maximum of 10 things") as raised:
            parse_count("--many", text, 10, "things", "--many 3", larger="Take two.")
        assert len(str(raised.value)) < 100
        assert raised.value.remedy == "Take two."
    assert parse_count("--many", "010", 10, "things", "--many 3") == 10


@pytest.mark.parametrize("told", [None, "", "0", "-3", "61", "200", "wide"])
def test_width_of_help_equals_that_of_shutil(
    told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if told is not None:
        monkeypatch.setenv("COLUMNS", told)
    assert columns() == shutil.get_terminal_size().columns


def test_single_verb_has_the_same_parser_as_among_all() -> None:
    def parsers(built: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
        verbs = next(a for a in built._actions if isinstance(a, argparse._SubParsersAction))
        return dict(verbs.choices)

    every = parsers(build())
    assert list(every) == list(VERBS)
    for verb, parser in every.items():
        assert parsers(build(verb)).keys() == {verb}
        assert parsers(build(verb))[verb].format_help() == parser.format_help()


@pytest.mark.parametrize(
    "words", [("partition", "create", "--dry-run"), ("machine", "show"), ("study", "list")]
)
def test_command_is_refused_by_verbs_that_launch_nothing(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main((*words, "--", "--dry-run")) == 2
    assert "takes no words after --" in capfd.readouterr().err


def test_empty_partition_name_is_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(("partition", "create", "", "--dry-run")) == 2
    assert "Invalid name of a partition: ''" in capfd.readouterr().err


@pytest.mark.parametrize("verb", ["run", "measure"])
def test_settings_are_words_or_values_of_with(verb: str) -> None:
    words = [verb, "threads=2", "--with", "nice=3", "env.A=b", "-q", "malloc=glibc", "--", "true"]
    arguments = parse(words).arguments
    assert arguments.assignments == ["threads=2", "malloc=glibc", "nice=3", "env.A=b"]
    assert arguments.quiet


def test_setting_of_other_tier_action_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(("tier", "doctor", "threads=2")) == 2
    assert "`assay tier doctor` takes no SETTING=VALUE" in capfd.readouterr().err


@pytest.mark.parametrize("verb", ["case", "machine", "partition", "tier"])
def test_every_option_belongs_to_an_action(verb: str) -> None:
    common = argparse.ArgumentParser(add_help=False)
    add_common_options(common)
    options = {action.dest for action in verb_parsers(build(verb))[verb]._actions}
    by_action = importlib.import_module(f"assay.cli.verbs.{verb}").OPTIONS_BY_ACTION
    known = {name for names in by_action.values() for name in names}
    assert options - {action.dest for action in common._actions} - POSITIONALS <= known


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_repeatable_options_says_so(verb: str) -> None:
    repeatable = [
        action
        for action in verb_parsers(build(verb))[verb]._actions
        if isinstance(action, argparse._AppendAction)
    ]
    assert all("repeatable" in (action.help or "") for action in repeatable)


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("verb", [None, *VERBS])
def test_first_help_screen_fits_a_terminal(
    verb: str | None,
    columns: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit) as end:
        parse([*([verb] if verb else []), "--help"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert all(len(line) < int(columns) for line in lines)


@pytest.mark.parametrize("verb", VERBS)
def test_help_all_has_every_option_and_its_help(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        parse([verb, "--help", "all"])
    shown = capsys.readouterr().out
    for action in verb_parsers(build(verb))[verb]._actions:
        assert action.help
        assert all(option in shown for option in action.option_strings)


@pytest.mark.parametrize("words", [["--help"], ["--help", "all"], ["tune", "--help", "malloc"]])
def test_help_with_any_word_exits_with_status_0(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage: assay")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "assay: error: missing verb: `assay --help` lists them\n"),
        (["completion"], "missing shell: write one of bash, zsh, fish\n"),
        (["report"], "missing study: write the id of a study, its beginning, or last\n"),
    ],
)
def test_missing_word_is_named(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(words)
    assert capsys.readouterr().err.endswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["machine", "noise", "--budget", "2s"], "unknown option --budget\n"),
        (["doctor", "extra"], "unexpected argument 'extra'\n"),
        (["measure", "extra"], "unexpected argument 'extra'; write the command after --\n"),
        (
            ["tier", "run", "--qqqqqq"],
            "unknown option --qqqqqq (write options of your own command after --)\n",
        ),
    ],
)
def test_hint_on_command_is_given_only_where_one_is_taken(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(words)
    assert capsys.readouterr().err.endswith(message)
