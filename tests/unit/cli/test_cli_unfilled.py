"""Placeholders that have a value in some arms only."""

from __future__ import annotations

import pytest

from assay.api.options.unfilled import demand_filled
from assay.errors import InvalidInputError
from assay.records import Arm, Configuration, Workload

DEFAULT = Arm(name="default", configuration=Configuration({}))


def arm(**values: int) -> Arm:
    settings = Configuration({f"arg.{name}": value for name, value in values.items()})
    return Arm(name=str(settings), configuration=settings)


def test_placeholder_without_value_in_an_arm_is_refused() -> None:
    workload = Workload(argv=("train", "--threads={t}"))
    with pytest.raises(InvalidInputError, match=r"\{t\} has no value in arm default") as error:
        demand_filled([DEFAULT, arm(t=1)], workload)
    assert "--arm arg.t=VALUE" in error.value.remedy
    with pytest.raises(InvalidInputError, match=r"\{t\} has no value in arm arg.u=1"):
        demand_filled([arm(t=1, u=2), arm(u=1)], workload)


def test_placeholder_with_values_or_default_is_accepted() -> None:
    workload = Workload(argv=("train", "{t}"))
    demand_filled([arm(t=1), arm(t=2)], workload)
    demand_filled([DEFAULT, arm(t=1)], Workload(argv=("train", "{t}"), placeholders={"t": "1"}))


def test_braces_that_no_arm_replaces_are_text() -> None:
    argv = ("sh", "-c", "find . -exec {} +; awk '{print}' ; echo '{\"a\": {b}}'", "{t}")
    demand_filled([DEFAULT, arm()], Workload(argv=argv))
    demand_filled([arm(t=1), arm(t=2)], Workload(argv=argv))
