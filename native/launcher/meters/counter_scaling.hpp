#pragma once

#include <cstdint>
#include <span>

namespace assay {

/// Reading of a perf event (PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING).
struct PerfReading {
    std::uint64_t value = 0;
    std::uint64_t enabled = 0; // time in ns that threads of the tree ran with the event enabled
    std::uint64_t running = 0; // part of it, in ns, with a hardware counter assigned
};

/// Return the factor for the readings of one event: 1, above 1 if the event shared its counter with others,
/// and 0 if it never had one. A machine with several kinds of cores has one reading per kind. A kind does not
/// count while the program runs on another, which needs no extrapolation; only time without any counter does.
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
