"""Arguments of wrong types are refused before a launch, and the message names the right types."""

from __future__ import annotations

import asyncio
import datetime
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.api.functions.argument_types import is_instance, words_of
from assay.api.functions.new_studies import compare_request, measure_request, tune_request
from assay.api.functions.single_launches import run_request
from assay.api.functions.study_names import study_id

SLEEP = ["sleep", "{s}"]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("10m", str | float, True),
        (10, str | float, True),
        (np.float32(1.5), float, True),
        (np.int64(3), int, True),
        (2.5, int, False),
        (True, int, False),
        (True, bool, True),
        (1, bool, False),
        (datetime.timedelta(1), float | datetime.timedelta, True),
        (["a", "b"], Sequence[str], True),
        (["a", 1], Sequence[str], False),
        ("a", Sequence[str], False),
        ({"a"}, Sequence[str], False),
        ({"a": "b"}, Mapping[str, str], True),
        ({"a": 1}, Mapping[str, str], False),
        ({"a": 1}, Mapping[str, str | int], True),
        (None, str | None, True),
        (None, str, False),
    ],
)
def test_type_of_a_value_with_its_items(value: object, kind: Any, expected: bool) -> None:
    assert is_instance(value, kind) is expected


def test_types_in_words() -> None:
    assert words_of(str | float | datetime.timedelta) == "a text, a number or a timedelta"
    assert words_of(bool) == "True or False"
    assert words_of(assay.Progress | Sequence[str] | None) == "assay.Progress or a list"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tune_request(SLEEP, {"arg.s"}, {}), "Invalid settings: {'arg.s'}"),  # type: ignore[arg-type]
        (lambda: tune_request(SLEEP, 5, {}), "Give values by name"),  # type: ignore[arg-type]
        (lambda: tune_request(SLEEP, [5], {}), r"Invalid settings: \[5\]"),  # type: ignore[list-item]
        (lambda: tune_request(SLEEP, {"arg.s": {1, 2}}, {}), "Give a list, whose order is fixed"),  # type: ignore[dict-item]
        (lambda: tune_request(SLEEP, {"arg.s": {1: 2}}, {}), "invalid domain {1: 2}"),  # type: ignore[dict-item]
        (lambda: tune_request(SLEEP, {"arg.s": [float("nan")]}, {}), "invalid value nan"),
        (lambda: tune_request(None, None, {}), "Invalid command: None"),  # type: ignore[arg-type]
        (lambda: tune_request(b"true", None, {}), "Invalid command: b'true'"),  # type: ignore[arg-type]
        (lambda: tune_request(["sleep", 0.1], None, {}), "Give a text: '0.1'"),  # type: ignore[list-item]
        (lambda: measure_request(["true"], None, {"budget": [5]}), "budget: invalid value"),
        (lambda: measure_request(["true"], None, {"runs": 2.5}), "Give a whole number or a text"),
        (lambda: measure_request(["true"], None, {"seed": "x"}), "seed: invalid value 'x'"),
        (lambda: measure_request(["true"], None, {"until": 100}), "until: invalid value 100"),
        (lambda: measure_request(["true"], None, {"shell": "no"}), "Give True or False"),
        (lambda: measure_request(["true"], None, {"metrics": {"a": 5}}), "metrics: invalid value"),
        (lambda: measure_request(["true"], None, {"progress": 4}), "Give assay.Progress, a text"),
        (lambda: measure_request(["true"], 3, {}), "Invalid settings: 3"),  # type: ignore[arg-type]
        (lambda: compare_request(["sleep", "0.01"], {}), "at least two commands"),
        (lambda: compare_request(["grep", "-n", "x"], {}), "at least two commands"),
        (lambda: compare_request(None, {}), "at least two commands"),  # type: ignore[arg-type]
        (lambda: compare_request(["true"], {"arms": [1, 2]}), "arms: invalid value"),
        (lambda: run_request(None, None, {}), "The command is missing"),
        (lambda: study_id(5), "Give the id of a study, its result, or 'last'"),  # type: ignore[arg-type]
        (lambda: assay.Range("1", "5"), "low: invalid value '1'"),  # type: ignore[arg-type]
        (lambda: assay.Range(1, 5, step=0), "Give a number above 0"),
        (lambda: assay.Progress(5), "name: invalid value 5"),  # type: ignore[arg-type]
        (lambda: assay.Progress("sps", 5), "pattern: invalid value 5"),  # type: ignore[arg-type]
        (lambda: assay.Progress("sps", "abc"), "pattern 'abc': the pattern has no group"),
        (lambda: assay.measure(["true"], budget=float("nan")), "nan is not a duration"),
        (lambda: assay.measure(["true"], until=50), 'Write until="steady:50"'),  # type: ignore[arg-type]
        (lambda: assay.Progress("sps", preset="tqmd"), "Did you mean tqdm"),
        (lambda: assay.Progress("sps", "([0-9])", preset="tqdm"), "exclude each other"),
        (lambda: assay.sweep({"a": 1}), "Give a text or a path"),  # type: ignore[arg-type]
    ],
)
def test_wrong_type_is_refused_with_the_right_ones(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(assay.InvalidInputError, match=message):
        call()


def test_paths_are_accepted() -> None:
    assert measure_request([Path("/bin/true")], None, {}).workload.argv == ("/bin/true",)  # type: ignore[list-item]


def test_named_arms_and_commands_keep_their_names() -> None:
    arms = {"small": {"arg.s": 1}, "large": {"arg.s": 2}}
    found = compare_request(SLEEP, {"arms": arms})
    assert (found.names, found.arms) == (("small", "large"), ("arg.s=1", "arg.s=2"))
    found = compare_request({"old": ["true"], "new": ["false"]}, {})
    assert found.names == ("old", "new")
    assert [one.argv for one in found.commands] == [("true",), ("false",)]
    assert compare_request({"old": ["true"], "new": ["false"]}, {"names": ["a", "b"]}).names == (
        *("a", "b"),
    )


@pytest.mark.parametrize(
    "commands", [["./old", "./new"], ["{build}/a", "{build}/b"], ["true", "a b"]]
)
def test_texts_that_may_be_commands_are_compared(commands: list[str]) -> None:
    assert len(compare_request(commands, {}).commands) == 2


@pytest.mark.parametrize(
    "progress",
    [
        "sps=samples/s: ([0-9.]+)",
        ["sps=samples/s: ([0-9.]+)"],
        {"sps": "samples/s: ([0-9.]+)"},
        assay.Progress("sps", "samples/s: ([0-9.]+)"),
        [assay.Progress("sps", "samples/s: ([0-9.]+)")],
    ],
)
def test_progress_has_several_forms(progress: object) -> None:
    request = measure_request(["true"], None, {"progress": progress})
    metric, *_ = request.workload.metrics
    assert metric.name == "sps"
    assert metric.progress is not None
    assert metric.progress.pattern == "samples/s: ([0-9.]+)"


def test_preset_has_the_goal_of_its_speed() -> None:
    given = {"progress": assay.Progress("speed", preset="tqdm")}
    assert tune_request(["true"], None, given).workload.metrics[0].goal == "higher"
    by_text = tune_request(["true"], None, {"progress": "speed=tqdm"})
    assert tune_request(["true"], None, given).workload == by_text.workload


def test_object_of_a_study_names_it() -> None:
    class Named:
        id = "k3x9"

    assert study_id(Named()) == study_id("k3x9") == "k3x9"


def test_traceback_of_an_error_has_the_public_function_only() -> None:
    with pytest.raises(assay.InvalidInputError) as caught:
        assay.measure(["true"], bugdet="5s")  # type: ignore[call-arg]
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 2
    with pytest.raises(assay.InvalidInputError, match="Did you mean budget"):
        asyncio.run(assay.measure_async(["true"], bugdet="5s"))  # type: ignore[call-arg]


def test_unknown_name_has_the_attributes_for_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tun'") as caught:
        assay.tun  # type: ignore[attr-defined]  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("tun", assay)
