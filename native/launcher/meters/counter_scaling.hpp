#pragma once

#include <cstdint>
#include <span>

namespace assay {

/// One reading of a perf event (PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING).
struct PerfReading {
    std::uint64_t value = 0;
    std::uint64_t enabled = 0; // ns that the tree's threads ran while the event was asked for
    std::uint64_t running = 0; // ns of them that a counter was there for it
};

/// By how much the readings of one event have to be multiplied: 1, above it where the event shared its
/// counter with others, and 0 where it never had one. A machine with several kinds of cores has one reading
/// for each kind. None of them runs while the program is on another kind, which is no reason to extrapolate:
/// only the time during which none of them ran is.
inline double scale_of(std::span<const PerfReading> readings) {
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    for (const auto& reading : readings) {
        enabled = reading.enabled > enabled ? reading.enabled : enabled;
        running += reading.running;
    }
    if (running == 0) return 0;
    return running < enabled ? static_cast<double>(enabled) / static_cast<double>(running) : 1;
}

} // namespace assay
