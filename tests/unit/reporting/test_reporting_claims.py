"""The table of claims."""

from __future__ import annotations

import msgspec

from assay.records import Claim, Spread, SpreadVerdict, Verdict
from assay.reporting.parts.claims import _spread
from assay.reporting.parts.common import reservation

CLAIM = Claim(
    a="default",
    b="nice=1",
    metric="wall_s",
    ratio=0.9,
    ci=(0.8, 0.95),
    verdict=Verdict.FASTER,
    blocks=40,
    margin=0.01,
    alpha=0.05,
    method="mean",
    spread_ratio=2.4,
)
WIDER = Spread(ratio=2.1, ci=(1.5, 3.0), verdict=SpreadVerdict.WIDER, batches=8)


def shown(claim: Claim) -> str:
    return str(_spread(claim)) + str(reservation(claim))


def test_spread_has_interval_if_available() -> None:
    assert "2.40\u00d7" in shown(CLAIM)
    told = shown(msgspec.structs.replace(CLAIM, spread=WIDER))
    assert "2.10\u00d7" in told and "(1.50 to 3.00)" in told
    open_end = msgspec.structs.replace(WIDER, ci=(None, 3.0))
    assert "2.40\u00d7" in shown(msgspec.structs.replace(CLAIM, spread=open_end))


def test_claim_shows_reservations() -> None:
    assert "unstable" not in shown(CLAIM)
    assert "unstable" in shown(msgspec.structs.replace(CLAIM, unstable=True))
    both = msgspec.structs.replace(CLAIM, unstable=True, verdict_withheld=True)
    assert "withheld, unstable" in shown(both)
