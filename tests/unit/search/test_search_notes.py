"""What weakens an answer, in sentences."""

from __future__ import annotations

import msgspec
import pytest
from simulated_studies import compare, factors

from assay.records import Budget, Grant, Granted, Sample, Stage
from assay.search.conclude import conclude
from assay.search.space import SearchSpace
from assay.search.testing import RandomSearcher, Simulated

GAIN = Simulated(takes_s=factors(nice={1: 0.8}))


def judged(sample: Sample, grant: Granted) -> Sample:
    """The same with a word on its setting, where it has one."""
    if "nice" not in sample.launch.configuration:
        return sample
    word = Grant(value=1, grant=grant, reason="the kernel said no")
    return msgspec.structs.replace(sample, settings={"nice": word})


@pytest.mark.parametrize("grant", [Granted.REFUSED, Granted.GRANTED])
def test_a_setting_that_did_not_take_effect_is_told(grant: Granted) -> None:
    study = compare(GAIN, Budget(launches=30), {}, {"nice": 1})
    samples = [judged(s, grant) for s in study.samples]
    again = conclude(
        study.spec, samples, SearchSpace(study.spec.space), RandomSearcher(), study.done
    )
    told = [note for note in again.notes if "did not take effect" in note]
    assert bool(told) == (grant is Granted.REFUSED)
    confirmed = sum(
        s.launch.stage is Stage.CONFIRM and "nice" in s.launch.configuration for s in samples
    )
    assert all(f"{confirmed} of {confirmed} launches" in t and "said no" in t for t in told)
