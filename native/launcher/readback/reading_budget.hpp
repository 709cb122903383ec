#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstddef>

namespace assay {

/// Number of threads of the tree that one reading may look at: reading the files of one takes some 10 us, and
/// a reading is to take no more than a 400th of the time that has passed. `docs/launcher.md` has figures.
inline std::size_t readable_threads(Nanos elapsed, std::size_t min_threads, std::size_t max_threads) {
    constexpr Nanos for_each = 4 * nanos_per_milli;
    return std::clamp(static_cast<std::size_t>(std::max<Nanos>(elapsed, 0) / for_each), min_threads,
                      max_threads);
}

} // namespace assay
