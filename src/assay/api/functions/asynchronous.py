"""Public functions as coroutines."""

from __future__ import annotations

import os
from typing import Unpack

from assay.api.functions.background import in_thread
from assay.api.functions.domains import Settings, Space
from assay.api.functions.fields import Command, Commands
from assay.api.functions.keywords import (
    CompareKeywords,
    MeasureKeywords,
    SweepKeywords,
    TuneKeywords,
)
from assay.api.functions.new_studies import compare, measure, sweep, tune
from assay.api.functions.public import with_keywords
from assay.api.results.result import Result


@with_keywords(TuneKeywords)
async def tune_async(
    command: Command, settings: Space | None = None, **options: Unpack[TuneKeywords]
) -> Result:
    """Search for the best configuration without blocking the event loop; see ``tune``.

    A cancellation of the task ends the launch, and leaves a study that can be resumed.

    Args:
        command: words of the command.
        settings: settings to vary.
        **options: see ``TuneKeywords``.

    Raises:
        AssayError: as ``tune``.

    Examples:
        >>> import assay, asyncio
        >>> found = assay.tune_async(["sleep", "{s}"], {"arg.s": [0.02, 0.01]}, runs=60)
        >>> dict(asyncio.run(found).recommendation.settings)
        {'arg.s': 0.01}
    """
    return await in_thread(tune, command, settings, **options)


@with_keywords(CompareKeywords)
async def compare_async(commands: Commands, **options: Unpack[CompareKeywords]) -> Result:
    """Compare commands or configurations without blocking the event loop; see ``compare``.

    Args:
        commands: commands to compare, commands by name, or the words of one command.
        **options: see ``CompareKeywords``.

    Raises:
        AssayError: as ``compare``.

    Examples:
        >>> import assay, asyncio
        >>> found = assay.compare_async([["sleep", "0.02"], ["sleep", "0.01"]], runs=40)
        >>> str(asyncio.run(found).verdict)
        'faster'
    """
    return await in_thread(compare, commands, **options)


@with_keywords(MeasureKeywords)
async def measure_async(
    command: Command, settings: Settings | None = None, **options: Unpack[MeasureKeywords]
) -> Result:
    """Launch one configuration repeatedly without blocking the event loop; see ``measure``.

    Args:
        command: words of the command.
        settings: configuration, with values by name.
        **options: see ``MeasureKeywords``.

    Raises:
        AssayError: as ``measure``.

    Examples:
        >>> import assay, asyncio
        >>> len(asyncio.run(assay.measure_async(["true"], runs=6)).arms)
        1
    """
    return await in_thread(measure, command, settings, **options)


@with_keywords(SweepKeywords)
async def sweep_async(file: str | os.PathLike[str], **options: Unpack[SweepKeywords]) -> Result:
    """Run the designed experiment of a file without blocking the event loop; see ``sweep``.

    Args:
        file: path of the TOML file.
        **options: see ``SweepKeywords``.

    Raises:
        AssayError: as ``sweep``.

    Examples:
        >>> import assay, asyncio, pathlib
        >>> _ = pathlib.Path("experiment.toml").write_text('''
        ... [workload]
        ... command = "sleep {s}"
        ... [settings]
        ... "arg.s" = [0.02, 0.01]
        ... ''')
        >>> len(asyncio.run(assay.sweep_async("experiment.toml", runs=40)).arms)
        2
    """
    return await in_thread(sweep, file, **options)
