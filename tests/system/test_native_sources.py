"""The native sources, each by itself."""

from __future__ import annotations

import pytest

from native_build import native_build


@pytest.mark.slow
def test_each_source_compiles_alone() -> None:
    """Other sources of one build, and precompiled headers, would hide a missing header."""
    build = native_build(
        ["assay-exec", "assay-broker", "assay-noise", "assay-tier-semantics", "assay-kernels"],
        "",
        "-DCMAKE_UNITY_BUILD=OFF",
        "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
    )
    assert (build / "assay-exec").exists()
    assert (build / "assay-noise").exists()
    assert (build / "broker" / "assay-broker").exists()
    assert (build / "tier" / "assay-tier-semantics").exists()
