"""Program of the benchmark: work with a record or a line after each piece of it.

reporter.py HOW RECORDS PERIOD_S

HOW is ``silent``, ``lines`` (one flushed line each on standard output) or ``records``
(``assay.progress``). The program runs for RECORDS periods, and prints on standard error the CPU
time that it used, in seconds.
"""

from __future__ import annotations

import sys
import time

WARM_UP = 1000
"""Reports before the measurement, which use up the burst of the writer."""


def main(how: str, records: int, period_s: float) -> None:
    import assay

    out = sys.stdout
    for step in range(WARM_UP):
        assay.progress(step=step, sps=310.25)
    start_s, used_s = time.monotonic(), time.process_time()
    for step in range(1, records + 1):
        rate = step / 7
        if how == "records":
            assay.progress(step=step, sps=rate)
        elif how == "lines":
            out.write(f"step {step} sps {rate}\n")
            out.flush()
        wait_s = start_s + step * period_s - time.monotonic()
        if wait_s > 0:
            time.sleep(wait_s)
    print(time.process_time() - used_s, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
