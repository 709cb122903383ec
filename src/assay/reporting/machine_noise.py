"""Machine noise: data of the picture of detours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.noise.figures import HistogramBin, detour_figures_of
from assay.noise.spectrum import Spectrum
from assay.records.noise import NoiseRun
from assay.reporting.markup import Html, el, join, text
from assay.reporting.pictures.theme import page_style

MAX_DOTS = 4000
"""Maximum number of detours of a CPU in a picture, longest first; others would overlap."""


@dataclass(frozen=True, slots=True)
class MachineNoiseFigure:
    """Data of the picture of the noise of a machine.

    Attributes:
        method: method that recorded the detours.
        length_s: length of the measurement, in seconds.
        histogram: histogram of the lengths of detours.
        detours: time in seconds and length in nanoseconds of each detour, by CPU.
        spectrum: lines and their bound; without lines if it was not measured.
        rhythms: frequency in hertz of each detected period, with its cause if known.
        share: lost share of the time, from 0 to 1.
        machine, date: machine and date; empty if unknown.
    """

    method: str
    length_s: float
    histogram: tuple[HistogramBin, ...]
    detours: dict[int, tuple[tuple[float, float], ...]]
    spectrum: Spectrum
    rhythms: tuple[tuple[float, str | None], ...]
    share: float = 0.0
    machine: str = ""
    date: str = ""


def machine_noise_figure(
    run: NoiseRun,
    histogram: tuple[HistogramBin, ...],
    spectrum: Spectrum,
    rhythms: Sequence[tuple[float, str | None]],
) -> MachineNoiseFigure:
    """Return the data of the picture.

    Args:
        run: run with the detours.
        histogram: histogram of the detours.
        spectrum: spectrum of a run with fixed time.
        rhythms: frequency in hertz of each period, with its cause if known.
    """
    return MachineNoiseFigure(
        method=run.method,
        length_s=max((cpu.length_ns for cpu in run.measured), default=0) / 1e9,
        histogram=histogram,
        detours={
            cpu.cpu: _longest(tuple(zip(cpu.start_ns, cpu.duration_ns, strict=False)))
            for cpu in run.measured
        },
        spectrum=spectrum,
        rhythms=tuple(rhythms),
        share=detour_figures_of(run.measured).share,
    )


def noise_page(svg: str, lines: str) -> str:
    """Return a self-contained page with the picture and the text of the terminal."""
    head = join(
        el("meta", charset="utf-8"),
        el("title", "Noise of this machine"),
        el("style", Html(f"{page_style()}{_STYLE}")),
    )
    body = el("body", Html(svg), el("pre", text(lines, "\n")))
    return f"<!doctype html>\n{el('html', el('head', head), body, lang='en')}\n"


_STYLE = (
    "body{margin:2rem auto;max-width:60rem;padding:0 1rem;background:var(--page);"
    "color:var(--ink);font-family:system-ui,sans-serif}"
    "svg{width:100%;background:var(--panel)}pre{overflow-x:auto}"
)


def _longest(detours: tuple[tuple[int, int], ...]) -> tuple[tuple[float, float], ...]:
    kept = sorted(detours, key=lambda detour: -detour[1])[:MAX_DOTS]
    return tuple(sorted((at / 1e9, float(took)) for at, took in kept))
