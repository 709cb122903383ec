"""Direction of a metric: whether higher values are likely to be better, by name and unit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.errors import InvalidInputError
from assay.executors.progress.speed_units import is_time_per_step
from assay.records import Metric

_RATES = re.compile(
    r"bandwidth|bw|bps|bitrate|flops|fps|framerate|gbps|gflops|gips|goodput|gups|hitrate|hz|iops|"
    r"ips|kbps|mbps|mflops|mips|mpps|mqps|mteps|ops|pps|qps|rates?|rps|speed|speedup|sps|tflops|"
    r"throughput|tps|tput",
    re.IGNORECASE,
)
_CERTAIN_RATES = re.compile(r"bandwidth|[gmt]flops|fps|iops|qps|rps|throughput|tps", re.IGNORECASE)
"""Words of a pattern that always denote a rate."""
_LOSSES = re.compile(
    r"drop|dropped|errors?|fail|failed|failure|loss|lost|miss|misses", re.IGNORECASE
)
_HITS = re.compile(r"hits?", re.IGNORECASE)
_PER_S_NAME = re.compile(
    r"(?:.*_)?(?:bytes|calls|events|examples|files|frames|images|imgs?|items|iters|iterations|jobs|"
    r"lines|messages|msgs?|ops|packets|pages|pkts?|queries|records|reqs?|requests|rows|samples|"
    r"seqs|steps|toks?|tokens|transactions|tx|txns?|words|[kmgt]i?b)_(?:s|sec)",
    re.IGNORECASE,
)
"""Names such as ``req_s``; a single thing, as in ``step_s``, may denote a time instead."""
_RATE_UNITS = re.compile(
    r"[kMG]?(?:bps|eps|fps|ips|iops|pps|qps|rps|tps)|[MGT](?:IPS|OPS|UPS|TEPS)|TEPS", re.IGNORECASE
)
"""Units that are rates without a time unit."""
_TIMES = re.compile(
    r"duration|elapsed|latency|[mun]?s|secs?|seconds?|times?|wall|walltime", re.IGNORECASE
)
_TIME_PER = re.compile(
    r"(?<![A-Za-z])(?:[mun]?s|sec|seconds?)\\?/[A-Za-z]|(?:time|took|elapsed)\b", re.IGNORECASE
)
"""Times in a pattern, such as ``ms/step`` or ``time:``."""
_WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PER_TIME = re.compile(
    r"(?:^|[A-Za-z1)\]+*])\\?/(?:s|sec|second|min|minute|h|hour|day)(?![A-Za-z])"
    r"|(?<![A-Za-z])per[ _]?(?:min(?:ute)?|hour|day)(?![a-z])"
    r"|(?<![A-Za-z])per[ _]?s(?:ec|econd)?(?![a-z])|Per_?S(?:ec|econd)?(?![a-z])"
    r"|(?:FLOPS|Hz|[kMG]bps)(?![A-Za-z])"
)


def is_rate(metric: Metric) -> bool:
    """Return whether a figure from the output is a rate, for which higher is usually better.

    The decision uses the words of its name, as in ``throughput`` or ``tokensPerS``, its unit, and a
    unit such as ``MB/s`` in its pattern. A rate of errors or misses is excluded.

    Args:
        metric: metric with a pattern or progress.
    """
    pattern = metric.pattern or (metric.progress and metric.progress.pattern) or ""
    words = [*_WORDS.findall(metric.name), *re.split("[^A-Za-z]+", metric.name)]
    if any(map(_LOSSES.fullmatch, words)) and not any(map(_HITS.fullmatch, words)):
        return False
    if any(map(_RATES.fullmatch, words)):
        return True
    if _PER_S_NAME.fullmatch(metric.name) or _RATE_UNITS.fullmatch(metric.unit.strip("()[]")):
        return True
    if any(map(_CERTAIN_RATES.fullmatch, re.split("[^A-Za-z]+", pattern))):
        return True
    texts = (metric.name, metric.unit, pattern)
    return any(_PER_TIME.search(text) for text in texts)


def is_time_word(word: str) -> bool:
    """Return whether a word of a name denotes a time or its unit."""
    return _TIMES.fullmatch(word) is not None


def is_known_speed(metric: Metric) -> bool:
    """Return whether the values of a metric are the speed of a known format."""
    progress = metric.progress
    return progress is not None and progress.preset is not None and not progress.key


def is_speed(metric: Metric) -> bool:
    """Return whether reported values are a speed: a rate, or the time of a step.

    All others, such as a loss or an accuracy, have no relation to the time of a step.

    Args:
        metric: metric with progress.
    """
    if is_known_speed(metric):
        return True
    pattern = (metric.progress and metric.progress.pattern) or ""
    words = [*_WORDS.findall(metric.name), *re.split("[^A-Za-z]+", metric.name)]
    is_time = any(map(is_time_word, words)) or is_time_per_step(metric.unit)
    return is_rate(metric) or is_time or bool(_TIME_PER.search(pattern))


def demand_directed(metrics: Iterable[Metric]) -> None:
    """Refuse a rate whose goal is only assumed to be lower.

    Raises:
        InvalidInputError: an objective looks like a rate; the message names the first one.
    """
    for metric in metrics:
        if metric.goal_assumed and is_rate(metric):
            raise InvalidInputError(
                f"{metric.name} looks like a rate, but its goal is not set.",
                f"Use --goal higher, or --goal lower if a lower {metric.name} is better.",
            )
