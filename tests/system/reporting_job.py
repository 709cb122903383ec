"""Program that reports its speed while it runs, in several ways; not a test.

Usage: reporting_job.py [STEPS [NAME=VALUE ...]]. Names: ``to``: ``lines``, ``errors``,
``frames``, ``channel``, ``csv``, ``jsonl`` or ``events``; ``slow``: factor of the step time;
``term``: ``ignore`` or an exit status; ``file``: file of ``csv`` and ``jsonl``, folder of
``events``; ``values``: comma-separated values in place of the speed, in turn; ``flush``: 0 to
buffer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

STEP_S = 0.01
STEPS = 2000


def main() -> None:
    """Report one value each step."""
    words = sys.argv[1:]
    steps = int(words[0]) if words else STEPS
    options = dict(word.split("=", 1) for word in words[1:])
    _handle_termination(options.get("term", ""))
    step_s = STEP_S * float(options.get("slow", "1"))
    values = [float(value) for value in options.get("values", "").split(",") if value]
    report = _reporter(options, steps)
    begin = time.monotonic()
    for step in range(1, steps + 1):
        time.sleep(max(0.0, begin + step * step_s - time.monotonic()))
        report(step, values[step % len(values)] if values else 1 / step_s)


def _handle_termination(way: str) -> None:
    if way == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif way:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(int(way)))


def _reporter(options: dict[str, str], steps: int):  # type: ignore[no-untyped-def]
    """Return the function that reports a step and its value."""
    to, flush = options.get("to", "lines"), options.get("flush", "1") == "1"
    if to == "channel":
        import assay

        return lambda step, value: assay.progress(step=step, sps=value, loss=1 / step)
    if to == "events":
        from event_writer import EventWriter

        writer = EventWriter(Path(options["file"]))
        return lambda step, value: writer.add(step, sps=value, loss=1 / step)
    if to in ("csv", "jsonl"):
        file = Path(options["file"]).open("w", buffering=1)  # noqa: SIM115 - open until the program ends
        if to == "csv":
            file.write("step,sps,loss\n")
            return lambda step, value: file.write(f"{step},{value},{1 / step}\n")
        return lambda step, value: file.write(
            json.dumps({"step": step, "sps": value, "loss": 1 / step}) + "\n"
        )
    if to == "frames":
        return lambda step, value: print(
            f"\rtrain: {100 * step // steps:3d}%|##  | {step}/{steps} "
            f"[00:{step // 60:02d}<00:10, {value:.2f}it/s, loss={1 / step:.4f}]",
            end="",
            file=sys.stderr,
            flush=True,
        )
    stream = sys.stderr if to == "errors" else sys.stdout
    return lambda step, value: print(
        f"step {step} sps: {value:.3f} loss: {1 / step:.5f}", file=stream, flush=flush
    )


if __name__ == "__main__":
    main()
