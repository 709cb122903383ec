"""Svg: static pictures of a study from figure data.

Text remains text and colours are classes, so pictures follow the light or dark theme of the page.
``standalone`` creates a separate file. Equal data yield equal bytes.
"""

from __future__ import annotations

from assay.reporting.pictures.canvas import NARROW, WIDE
from assay.reporting.pictures.heatmap import heat_svg
from assay.reporting.pictures.progress import progress_svg
from assay.reporting.pictures.rows import box_svg, gain_svg
from assay.reporting.pictures.scatter import scatter_svg
from assay.reporting.pictures.series import convergence_svg, noise_svg
from assay.reporting.pictures.theme import standalone

__all__ = [
    "NARROW",
    "WIDE",
    "box_svg",
    "convergence_svg",
    "gain_svg",
    "heat_svg",
    "noise_svg",
    "progress_svg",
    "scatter_svg",
    "standalone",
]
