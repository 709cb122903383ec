"""Picture of the regret against launches, with a panel for each table."""

from __future__ import annotations

from pathlib import Path

from .rows import PLUS, Rows

COLOURS = {
    "assay": "#d55e00",
    "tpe": "#0072b2",
    "gp": "#009e73",
    "random": "#777777",
    "smac": "#cc79a7",
    "hebo": "#e69f00",
}
"""Colours of the palette of Okabe and Ito, which suits colour-blind readers."""
MARKS = {"assay": "o", "tpe": "s", "gp": "^", "random": "x", "smac": "D", "hebo": "v"}


def draw(rows: Rows, path: Path) -> None:
    """Write the picture as SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "assay"
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    tables, methods = rows.distinct("table"), rows.distinct("method")
    columns = 3
    lines = -(-len(tables) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(10, 3.1 * lines), squeeze=False)
    for place, table in enumerate(tables):
        ax = axes[place // columns][place % columns]
        for method in methods:
            of = rows.of(table=table, method=method)
            launches = of.distinct("launches")
            ax.errorbar(
                launches,
                [100 * (of.of(launches=n).mean("regret") + PLUS) for n in launches],
                yerr=[100 * of.of(launches=n).error("regret") for n in launches],
                label=method,
                color=COLOURS.get(method),
                marker=MARKS.get(method, "."),
                capsize=2,
                linewidth=1.5,
                markersize=5,
            )
        ax.set_title(table, fontsize=10)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(rows.distinct("launches"), map(str, rows.distinct("launches")))
        ax.grid(alpha=0.25)
        ax.set_xlabel("launches (logarithmic)")
        if place % columns == 0:
            ax.set_ylabel("regret plus 0.1 %, % (logarithmic)")
    for place in range(len(tables), lines * columns):
        axes[place // columns][place % columns].axis("off")
    axes[0][0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
