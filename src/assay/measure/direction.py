"""Direction: whether more of a figure is likely to be better, by its name and unit."""

from __future__ import annotations

import re

from assay.records import Metric

_RATES = re.compile(
    r"bandwidth|bps|flops|fps|gbps|gflops|hz|iops|ips|kbps|mbps|mflops|mips|ops|qps|"
    r"rate|rates|rps|speed|speedup|tflops|throughput|tps",
    re.IGNORECASE,
)
_LOSSES = re.compile(
    r"drop|dropped|error|errors|fail|failed|failure|loss|lost|miss|misses", re.IGNORECASE
)
_WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_PER_TIME = re.compile(
    r"[A-Za-z1]/(?:s|sec|second)(?![A-Za-z])|(?<![A-Za-z])per[ _]?s(?:ec|econd)?(?![a-z])"
    r"|Per_?S(?:ec|econd)?(?![a-z])|(?:FLOPS|Hz|[kMG]bps)(?![A-Za-z])"
)


def is_rate(metric: Metric) -> bool:
    """Whether a figure from the output is a rate, of which more is better as a rule.

    Told by the words of its name, as in ``throughput`` or ``tokensPerS``, by its unit, and by a
    unit such as ``MB/s`` in its pattern. A rate of errors or misses is none.

    Args:
        metric: with a pattern.
    """
    words = _WORDS.findall(metric.name)
    if any(map(_LOSSES.fullmatch, words)):
        return False
    if any(map(_RATES.fullmatch, words)):
        return True
    texts = (metric.name, metric.unit, metric.pattern or "")
    return any(_PER_TIME.search(text) for text in texts)
