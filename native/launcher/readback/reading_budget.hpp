#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstddef>

namespace assay {

/// Return the number of threads that one reading may examine. The files of one thread take about 10 us, and a
/// reading must take at most 1/400 of the elapsed time (figures in `docs/reference/assay-exec.md`).
inline std::size_t readable_threads(Nanos elapsed, std::size_t min_threads, std::size_t max_threads) {
    constexpr Nanos for_each = 4 * nanos_per_milli;
    return std::clamp(static_cast<std::size_t>(std::max<Nanos>(elapsed, 0) / for_each), min_threads,
                      max_threads);
}

} // namespace assay
