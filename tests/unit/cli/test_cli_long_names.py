"""Names as long as a command may be, and lines that are wrapped to a narrow terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from assay.api.options.study_options import parse_warmup
from assay.api.results.sentences import NAME_CHARACTERS, verdict_lines
from assay.cli.show.result import arm_lines
from assay.records import Budget
from assay.testing.search_contracts import SimulatedProgram

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import compare, factors

LONG = "printf " + "x" * 100_000 + " end"


def test_a_long_command_is_shortened_in_sentence_and_table() -> None:
    study = compare(
        SimulatedProgram(takes_s=factors(nice={1: 0.5})),
        Budget(launches=60),
        {"nice": 0},
        {"nice": 1},
    )
    found = study.conclusion
    claims = tuple(msgspec.structs.replace(claim, b=LONG) for claim in found.claims)
    arms = (found.arms[0], msgspec.structs.replace(found.arms[1], name=LONG))
    found = msgspec.structs.replace(found, claims=claims, arms=arms)
    (sentence,) = verdict_lines(found, study.spec)
    assert sentence.startswith("printf xxx")
    assert " end " in sentence
    assert len(sentence) < NAME_CHARACTERS + 200
    lines = list(arm_lines(found.arms, study.spec.workload.objective))
    assert max(map(len, lines)) < NAME_CHARACTERS + 100


@pytest.mark.parametrize(("text", "launches"), [("0", 0), ("3", 3), ("auto", None), (None, None)])
def test_no_warm_up_may_be_asked_for(text: str | None, launches: int | None) -> None:
    assert parse_warmup(text) == launches
