"""Plans: what must not be launched, and which CPUs a launch is kept to."""

from __future__ import annotations

import pytest

from assay.errors import NotPossibleError
from assay.records import Affinity, Configuration, EnvSet, Level, Plan, PlannedSetting, Prospect


def made(reason: str | None, prospect: Prospect = Prospect.REFUSED) -> Plan:
    words = {
        "nice": PlannedSetting(value=5, status=Prospect.GRANTABLE, level=Level.SEEN),
        "cpus": PlannedSetting(value=99, status=prospect, level=Level.SEEN, reason=reason),
    }
    return Plan(configuration=Configuration({"cpus": 99, "nice": 5}), settings=words)


@pytest.mark.parametrize("reason", ["assay may use 2 CPUs here", "assay may use 2 CPUs here."])
def test_plan_with_refused_setting_is_rejected(reason: str) -> None:
    with pytest.raises(NotPossibleError) as told:
        made(reason).demand_granted()
    assert told.value.cause == "cpus=99 cannot be granted: assay may use 2 CPUs here."


@pytest.mark.parametrize("prospect", [Prospect.GRANTABLE, Prospect.DEGRADED])
def test_plan_without_refused_setting_is_accepted(prospect: Prospect) -> None:
    made("in part", prospect).demand_granted()


def test_cpus_of_plan_are_those_of_affinity_mask() -> None:
    mask = (EnvSet(name="A", value="b"), Affinity(cpus=(0, 2)))
    assert Plan(configuration=Configuration(), actions=mask).cpus == (0, 2)
    assert Plan(configuration=Configuration(), actions=mask[:1]).cpus == ()
