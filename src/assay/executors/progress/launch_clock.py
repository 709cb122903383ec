"""Times since the start of a launch, from the clocks that programs and files use."""

from __future__ import annotations

import time

_MAX_AHEAD_S = 1.0
"""Lead of a reported time over the time of reading that rounding explains."""


class LaunchClock:
    """Converts times to seconds since the start of a launch.

    The wall clock may jump. A converted time is therefore never later than the time of reading,
    and the caller states the earliest possible time.

    Args:
        start: CLOCK_MONOTONIC at the start of the launch, in seconds.

    Attributes:
        start: the same.
        now_s: time of the current reading since the start, in seconds.
        before_s: time of the previous reading.
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.now_s = 0.0
        self.before_s = 0.0
        self._wall_start_ns = 0

    def tick(self, now: float) -> None:
        """Begin a reading.

        Args:
            now: CLOCK_MONOTONIC, in seconds.
        """
        self.before_s = self.now_s
        self.now_s = max(self.now_s, now - self.start)
        self._wall_start_ns = time.time_ns() - time.monotonic_ns() + int(self.start * 1e9)

    def of_wall_ns(self, wall_ns: int, earliest_s: float) -> float:
        """Return the time of a wall clock reading, between the earliest time and now.

        Args:
            wall_ns: CLOCK_REALTIME, in nanoseconds.
            earliest_s: earliest possible time since the start, in seconds.
        """
        seconds = (wall_ns - self._wall_start_ns) * 1e-9
        return min(max(seconds, earliest_s), self.now_s)

    def of_monotonic(self, seconds: float) -> float | None:
        """Return the time of a monotonic clock reading; ``None`` if it is of another clock.

        Args:
            seconds: CLOCK_MONOTONIC, in seconds.
        """
        found = seconds - self.start
        if not 0.0 <= found <= self.now_s + _MAX_AHEAD_S:
            return None
        return min(found, self.now_s)


def spread_times(count: int, last_s: float, before_s: float, previous_s: float) -> list[float]:
    """Return the times of items that were read at once.

    The last one has a known time; the others are spread evenly before it. Between readings none
    can have arrived earlier than the previous reading.

    Args:
        count: number of items.
        last_s: time of the last item.
        before_s: time of the previous reading, the earliest possible time.
        previous_s: time of the item before them.
    """
    if count < 2:
        return [last_s] * count
    share = (last_s - before_s) / count
    begin = max(previous_s, before_s - share)
    step = (last_s - begin) / count
    times = [max(before_s, begin + step * number) for number in range(1, count)]
    times.append(last_s)
    return times
