"""The words of --observe."""

import pytest

from assay.api.options.observe import parse_observations
from assay.errors import InvalidInputError
from assay.records import Observation
from assay.records.observation import ALL_OBSERVATIONS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, None),
        ("all", ALL_OBSERVATIONS),
        ("none", ()),
        ("memory", (Observation.MEMORY,)),
        ("scheduling,counters", (Observation.COUNTERS, Observation.SCHEDULING)),
    ],
)
def test_words_name_observations(text: str | None, found: tuple | None) -> None:
    assert parse_observations(text) == found


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match="unknown observation 'counter'") as error:
        parse_observations("memory,counter")
    assert "Did you mean counters?" in error.value.remedy


def test_empty_name_is_refused_with_all_names() -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_observations("")
    assert "counters, memory, scheduling, readback" in error.value.remedy


@pytest.mark.parametrize("text", ["none,memory", "memory,all", "all,none"])
def test_all_and_none_stand_alone(text: str) -> None:
    with pytest.raises(InvalidInputError, match="excludes other names"):
        parse_observations(text)
