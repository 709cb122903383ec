"""Roofline: every variant of a kernel below the limits of the machine (Williams et al. 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.reporting.pictures.canvas import SMALL_PX, WIDE, bare, canvas, put_text
from assay.reporting.pictures.theme import LIGHT, finish, standalone
from assay.units import show_bytes, significant
from assay.workloads.kernels import Kernel
from assay.workloads.ladder import Step
from assay.workloads.roofs import Roofs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT, _LEFT, _RIGHT, _ABOVE, _BELOW = 420, 70, 260, 44, 48
_DECADES = 1.3
"""Least range of intensity on each side of the variants, in decades."""


def roofline_svg(kernel: Kernel, steps: Sequence[Step], roofs: Roofs) -> str:
    """Draw the rate of operations over the arithmetic intensity, as SVG.

    Args:
        kernel: the kernel, with its data.
        steps: steps of its ladder.
        roofs: roofs for data of this size.
    """
    shown = [
        step for step in steps if step.median_s and step.variant.flops and step.variant.moved_bytes
    ]
    with canvas() as new:
        fig = new(WIDE, _HEIGHT)
        ax = fig.add_axes(
            (
                _LEFT / WIDE,
                _BELOW / _HEIGHT,
                (WIDE - _LEFT - _RIGHT) / WIDE,
                (_HEIGHT - _ABOVE - _BELOW) / _HEIGHT,
            )
        )
        bare(ax)
        ax.set_xscale("log")
        ax.set_yscale("log")
        _roof(ax, shown, roofs)
        order = sorted(shown, key=lambda one: -one.gflop_per_s)
        for place, one in enumerate(order):
            strong = place == 0
            colour = "winner" if strong else "other"
            point = [_intensity(one)], [one.gflop_per_s]
            ax.plot(*point, "o", markersize=6, color=LIGHT[colour], zorder=4)
            share = f"{100 * one.share_of_roof(roofs):.0f} % of the roof"
            put_text(
                fig,
                WIDE - _RIGHT + 12,
                _HEIGHT - _ABOVE - 14 - 15 * place,
                f"{one.variant.variant}: {significant(one.gflop_per_s)}, {share}",
                colour="ink" if strong else "muted",
                size=SMALL_PX,
                weight=600 if strong else 400,
            )
        put_text(fig, 8, _HEIGHT - 18, f"{kernel.title}: {show_bytes(kernel.bytes)}", weight=600)
        put_text(fig, 8, _HEIGHT - 34, "GFLOP/s", colour="muted", size=SMALL_PX)
        ends = [f"{significant(roofs.gflop_per_s)} GFLOP/s", f"{significant(roofs.gb_per_s)} GB/s"]
        legend = f"roof: {' and '.join(ends)}, measured by probes"
        put_text(fig, WIDE - _RIGHT, 10, legend, colour="muted", size=SMALL_PX, align="right")
        put_text(fig, _LEFT, 10, "operations per transferred byte", colour="muted", size=SMALL_PX)
        words = f"Roofline of {kernel.kernel} with {len(shown)} variants"
        return standalone(finish(fig, "roofline", words, words))


def _intensity(step: Step) -> float:
    return step.variant.flops / step.variant.moved_bytes


def _roof(ax: Axes, shown: Sequence[Step], roofs: Roofs) -> None:
    """Draw the bandwidth and the peak rate, which meet at the ridge."""
    ridge = roofs.gflop_per_s / roofs.gb_per_s
    places = [_intensity(point) for point in shown] or [ridge]
    factor = 10**_DECADES
    left, right = min(*places, ridge) / factor, max(*places, ridge) * factor
    ax.plot(
        [left, ridge, right],
        [left * roofs.gb_per_s, roofs.gflop_per_s, roofs.gflop_per_s],
        color=LIGHT["baseline"],
        linewidth=1.6,
        zorder=3,
    )
    rates = [point.gflop_per_s for point in shown]
    ax.set_xlim(left, right)
    ax.set_ylim(min([*rates, left * roofs.gb_per_s]) / 2, roofs.gflop_per_s * 2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.grid(color=LIGHT["grid"], linewidth=0.8, zorder=0)
    ax.tick_params(length=0, labelsize=SMALL_PX, colors=LIGHT["muted"])
