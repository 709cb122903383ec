"""What a calibration says, in the words that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records import Claim, Conclusion, Metric
from assay.records.calibration import Calibration, FalseVerdicts, SmallestGain
from assay.units import show_count, show_level, show_percent, show_quantity, significant
from assay.wording.sentence import interval

NOTHING = "No block gave two values: there is nothing to tell of this machine."


def few_blocks_note(blocks: int, least: int) -> str:
    """Return a note on a calibration with too few blocks.

    Args:
        blocks: recorded blocks without disturbance.
        least: smallest number of blocks for all results.
    """
    count = "no undisturbed block was"
    if blocks:
        one = blocks == 1
        count = f"only {blocks} undisturbed {'block was' if one else 'blocks were'}"
    return f"{count} recorded: error rates of assay and the smallest gain take {least}"


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
    """How far two identical arms came out apart, and how often assay errs here.

    Args:
        conclusion: of the calibration.
        metric: that it is about.
        alpha: share of wrong claims accepted.
    """
    floor = conclusion.noise_floor
    if floor is None:
        yield NOTHING
        return
    yield (
        f"Noise floor of this machine: two identical arms differ by {interval(floor, metric)} "
        f"({show_level(floor.alpha)} interval, {floor.blocks:,} paired launches)."
    )
    found = conclusion.calibration
    if found is not None and found.false_verdicts is not None:
        yield false_words(found.false_verdicts, alpha)


def false_words(found: FalseVerdicts, alpha: float) -> str:
    """How often assay told identical arms apart."""
    return (
        f"False verdicts of assay here: {100 * found.share:.1f} % (standard error "
        f"{100 * found.error:.1f} %) of {found.studies:,} studies of identical arms, made out of "
        f"these launches and looked at after every one of {show_count(found.blocks, 'block')}; "
        f"{100 * alpha:g} % are accepted."
    )


def launch_words(found: Calibration, unit: str) -> str:
    """How launches vary, drift and hang together."""
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
    """How many blocks others disturbed: ``3 of 1,207 blocks (0.2 %)``."""
    lost, blocks = conclusion.disturbed_blocks, conclusion.blocks
    share = f" ({significant(100 * lost / blocks, 2)} %)" if lost else ""
    return f"{lost:,} of {show_count(blocks, 'block')}{share}"


def budget_words(gain: SmallestGain) -> str:
    """A budget as it is said: ``5 min``."""
    return f"{gain.budget_s / 60:g} min"


def gain_words(gain: SmallestGain) -> str:
    """What can be shown within a budget."""
    if gain.blocks == 0:
        return "not one block fits"
    blocks = show_count(gain.blocks, "block")
    if gain.gain is None:
        return f"none of those tried ({blocks})"
    if gain.simulated_blocks is not None:
        blocks += f", of which {gain.simulated_blocks:,} were simulated"
    return f"{significant(100 * gain.gain, 2)} % ({blocks})"


def gains_intro(found: Calibration, unit: str) -> str:
    """What the smallest gains are about."""
    usual = show_quantity(found.median, unit)
    return f"smallest gain that nine studies of ten show, of a program of {usual}"


def margin_words(found: Calibration, margin: float) -> str | None:
    """What it takes to show a gain that counts as none otherwise."""
    if not any(gain.gain is not None and gain.gain < margin for gain in found.gains):
        return None
    return f"one below {100 * margin:g} % takes a --margin as small"
