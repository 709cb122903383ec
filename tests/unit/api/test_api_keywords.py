"""Each measuring verb has a function with the same options."""

from __future__ import annotations

import ast
import inspect
from argparse import SUPPRESS
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.parsing.parser import build, verb_parsers

RENAMED = {
    "metric": "metrics",
    "constraint": "constraints",
    "arm": "arms",
    "name": "names",
    "assignments": "settings",
}
"""Keywords whose names differ from those of their options: they take several values."""
OF_THE_COMMAND_LINE = {
    "as_root": "the user of the process runs the program",
    "color": "a notebook has no colours of a terminal",
    "dry_run": "search_space and design",
    "explain": "the function explain",
    "export": "Result.report, to_frame and to_json",
    "fail_if": "Result.verdict",
    "help": "help(assay.tune)",
    "json": "Result.to_json",
    "progress_file": "Progress.file",
    "quiet": "progress_bar",
    "reboot_command": "StudyPaused is raised",
    "record": "RunResult.sample",
    "schema": "a document of the command line",
    "verbose": "Result.spec",
}
"""Options without a keyword, with their substitute."""
FUNCTIONS: dict[tuple[str, ...], Callable[..., Any]] = {
    ("tune",): assay.tune,
    ("compare",): assay.compare,
    ("measure",): assay.measure,
    ("sweep",): assay.sweep,
    ("run",): assay.run,
}
STUDY_ACTIONS: dict[str, Callable[..., Any]] = {
    "resume": assay.resume,
    "confirm": assay.confirm,
    "calibrate": assay.calibrate,
}


def options_of(verb: str) -> set[str]:
    """Return the options of a verb, by their names in the namespace."""
    parser = verb_parsers(build(verb))[verb]
    actions = (action for action in parser._actions if action.option_strings)
    return {action.dest for action in actions} - {SUPPRESS}


def keywords_of(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


@pytest.mark.parametrize("words", FUNCTIONS, ids=" ".join)
def test_function_has_a_keyword_for_each_option(words: tuple[str, ...]) -> None:
    keywords = keywords_of(FUNCTIONS[words])
    wanted = {RENAMED.get(name, name) for name in options_of(words[0]) - OF_THE_COMMAND_LINE.keys()}
    assert wanted <= keywords, f"without keyword: {wanted - keywords}"


@pytest.mark.parametrize("action", STUDY_ACTIONS)
def test_function_has_a_keyword_for_each_option_of_its_action(action: str) -> None:
    from assay.cli.arguments.study_actions import OPTIONS_BY_ACTION

    wanted = set(OPTIONS_BY_ACTION[action]) - OF_THE_COMMAND_LINE.keys() - {"overhead"}
    assert wanted <= keywords_of(STUDY_ACTIONS[action])


@pytest.mark.parametrize("words", FUNCTIONS, ids=" ".join)
def test_no_keyword_lacks_an_option(words: tuple[str, ...]) -> None:
    options = {RENAMED.get(name, name) for name in options_of(words[0])}
    own = {"command", "commands", "settings", "file", "progress_bar", "capture_output", "history"}
    later = {"progress", "until"}
    assert keywords_of(FUNCTIONS[words]) - options - own <= later


def test_unknown_keyword_names_the_nearest_one() -> None:
    with pytest.raises(assay.InvalidInputError, match="Did you mean budget"):
        assay.tune(["true"], budgt="10m")  # type: ignore[call-arg]
    with pytest.raises(assay.InvalidInputError, match="unknown keyword 'xyz'"):
        assay.run(["true"], xyz=1)  # type: ignore[call-arg]


def test_keyword_of_another_function_names_that_function() -> None:
    with pytest.raises(assay.InvalidInputError) as caught:
        assay.measure(["true"], fidelity="arg.steps=1..3")  # type: ignore[call-arg]
    assert caught.value.remedy == "fidelity belongs to assay.tune."


def test_each_keyword_is_documented() -> None:
    from assay.api.functions import keywords

    tree = ast.parse(Path(keywords.__file__).read_text())
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        fields = [
            part.target.id
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        text = ast.get_docstring(node) or ""
        assert [name for name in fields if f"{name}:" not in text] == [], node.name
