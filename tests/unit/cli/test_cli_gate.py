"""``compare --fail-if`` and ``--name``: which words they take."""

from __future__ import annotations

import pytest

from assay.api.options.study_options import parse_gate
from assay.api.studies.comparing import _named
from assay.errors import InvalidInputError
from assay.records import Arm, Configuration
from assay.search.claims.gate import GATE_CONDITIONS, SINGLE_ARM_CONDITIONS

ARMS = tuple(Arm(name=n, configuration=Configuration()) for n in ("A", "B", "C"))


def test_a_word_that_is_no_verdict_names_the_nearest() -> None:
    assert parse_gate(None, GATE_CONDITIONS) == ()
    assert parse_gate("slower,failed", GATE_CONDITIONS) == ("slower", "failed")
    with pytest.raises(InvalidInputError, match="slowr") as caught:
        parse_gate("faster,slowr", GATE_CONDITIONS)
    assert caught.value.remedy == "Did you mean slower?"
    assert parse_gate("broken,failed", SINGLE_ARM_CONDITIONS) == ("broken", "failed")
    with pytest.raises(InvalidInputError, match="unknown verdict 'slower'") as caught:
        parse_gate("slower", SINGLE_ARM_CONDITIONS)
    assert caught.value.remedy == "Write one of broken, unclear, failed."


@pytest.mark.parametrize("name", [" ", "\t", "a\nb", "a\x1b[31m", "a\u202eb"])
def test_a_name_can_be_seen(name: str) -> None:
    with pytest.raises(InvalidInputError, match="characters that cannot be printed") as caught:
        _named(list(ARMS), ["first", name])
    assert "\x1b" not in str(caught.value)
    assert [arm.name for arm in _named(list(ARMS), ["größer", "x y"])] == ["größer", "x y", "C"]
