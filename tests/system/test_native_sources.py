"""The native sources, each by itself."""

from __future__ import annotations

import pytest

from native_build import native_build


@pytest.mark.slow
def test_each_source_compiles_alone() -> None:
    """Else the package's build, of several at a time, hides a header that one of them lacks."""
    build = native_build(
        ["assay-exec", "assay-broker", "assay-noise", "assay-tier-semantics"],
        "",
        "-DCMAKE_UNITY_BUILD=OFF",
    )
    assert (build / "assay-exec").exists()
    assert (build / "assay-noise").exists()
    assert (build / "broker" / "assay-broker").exists()
    assert (build / "tier" / "assay-tier-semantics").exists()
