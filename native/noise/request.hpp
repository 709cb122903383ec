#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::noise {

/// Measuring method for OS noise.
enum class Method {
    fixed_work, ///< FWQ: durations of a repeated, fixed amount of work.
    fixed_time, ///< FTQ: amount of work per interval of fixed length; for spectra.
    selfish,    ///< Gaps between successive clock readings: start and length of each detour.
};

struct Request {
    Method method = Method::selfish;
    std::vector<int> cpus; ///< One pinned thread per CPU; empty: all CPUs available to this process.
    Nanos length = 5 * nanos_per_second;
    Nanos quantum = nanos_per_milli;   ///< Amount of work or time, as its undisturbed duration.
    Nanos threshold = 1000;            ///< Minimum length of a detour.
    std::size_t max_values = 1U << 20; ///< Maximum number of values per CPU.
    std::size_t worst = 64;            ///< Number of detours per CPU that are reported in detail.
    bool help = false;
    bool version = false;
    std::string error; ///< Error in the arguments; empty if they are valid.
};

extern const char usage_text[];

Request parse_request(int argc, char** argv);

} // namespace assay::noise
