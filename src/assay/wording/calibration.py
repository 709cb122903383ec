"""Calibration: results in sentences, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records import Claim, Conclusion, Metric
from assay.records.calibration import Calibration, FalseVerdicts, SmallestGain
from assay.units import show_count, show_level, show_percent, show_quantity, significant
from assay.wording.sentence import interval

NO_RESULT = "No block gave two values: the calibration has no result."


def few_blocks_note(blocks: int, min_blocks: int) -> str:
    """Return a note on a calibration with too few blocks.

    Args:
        blocks: number of undisturbed recorded blocks.
        min_blocks: smallest number of blocks for all results.
    """
    count = "no undisturbed block was"
    if blocks:
        one = blocks == 1
        count = f"only {blocks} undisturbed {'block was' if one else 'blocks were'}"
    return f"{count} recorded: error rates of assay and the smallest gain need {min_blocks}"


def different_arms_note(floor: Claim) -> str:
    """Return a note on two identical arms that differ.

    Args:
        floor: claim on the two arms.
    """
    return (
        f"two identical arms differ by {show_percent(floor.ratio)} %, beyond their interval: "
        "something besides the configuration makes a difference here, or this is one of the "
        f"{100 * floor.alpha:g} % of wrong verdicts"
    )


def sentences(conclusion: Conclusion, metric: Metric, alpha: float) -> Iterator[str]:
    """Yield the noise floor of a machine, and the error rate of assay on it.

    Args:
        conclusion: conclusion of the calibration.
        metric: metric of the noise floor.
        alpha: accepted share of wrong claims.
    """
    floor = conclusion.noise_floor
    if floor is None:
        yield NO_RESULT
        return
    yield (
        f"Noise floor of this machine: two identical arms differ by {interval(floor, metric)} "
        f"({show_level(floor.alpha)} interval, {floor.blocks:,} paired launches)."
    )
    found = conclusion.calibration
    if found is not None and found.false_verdicts is not None:
        yield false_words(found.false_verdicts, alpha)


def false_words(found: FalseVerdicts, alpha: float) -> str:
    """Return the share of studies in which assay wrongly found a difference."""
    return (
        f"False verdicts of assay here: {100 * found.share:.1f} % (standard error "
        f"{100 * found.standard_error:.1f} %), where up to {100 * alpha:g} % are accepted. assay "
        f"simulated {found.studies:,} studies of identical arms from these launches, with "
        f"{show_count(found.blocks, 'block')} each, and this share of them found a difference."
    )


def launch_words(found: Calibration, unit: str) -> str:
    """Return variation, drift and autocorrelation of launches."""
    parts = [
        f"{show_quantity(found.median, unit)} (median)",
        f"varies by {significant(100 * found.sd_log, 2)} % (sd)",
    ]
    if found.drift is not None:
        parts.append(f"drift {show_percent(found.drift)} % from the first third to the last")
    if found.autocorrelation is not None:
        parts.append(f"autocorrelation {found.autocorrelation:.2f}")
    return ", ".join(parts)


def disturbed_words(conclusion: Conclusion) -> str:
    """Return the number of disturbed blocks: ``3 of 1,207 blocks (0.2 %)``."""
    lost, blocks = conclusion.disturbed_blocks, conclusion.blocks
    share = f" ({significant(100 * lost / blocks, 2)} %)" if lost else ""
    return f"{lost:,} of {show_count(blocks, 'block')}{share}"


def budget_words(gain: SmallestGain) -> str:
    """Return a budget in minutes: ``5 min``."""
    return f"{gain.budget_s / 60:g} min"


def gain_words(gain: SmallestGain) -> str:
    """Return the smallest gain that a budget can prove."""
    if gain.blocks == 0:
        return "no block fits"
    blocks = show_count(gain.blocks, "block")
    if gain.gain is None:
        return f"none of those tried ({blocks})"
    if gain.simulated_blocks is not None:
        blocks += f", of which {gain.simulated_blocks:,} were simulated"
    return f"{significant(100 * gain.gain, 2)} % ({blocks})"


def gains_intro(found: Calibration, unit: str) -> str:
    """Return the heading of the smallest gains."""
    usual = show_quantity(found.median, unit)
    return f"smallest gain that nine of ten studies prove, for a program of {usual}"


def margin_words(found: Calibration, margin: float) -> str | None:
    """Return the option for gains below the margin; ``None`` if there are none."""
    if not any(gain.gain is not None and gain.gain < margin for gain in found.gains):
        return None
    return f"a gain below {100 * margin:g} % needs an equally small --margin"
