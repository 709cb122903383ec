#pragma once

#include "kernels/locks/section.hpp"

namespace {

/// All sections over all threads.
///
/// \tparam Guard has `read` and `write`, which run a piece of code behind the lock.
template <class Guard>
inline void look_up(const Lookups& work) {
    std::int64_t torn = 0, seen = 0;
    const auto n = static_cast<long>(work.n);
#pragma omp parallel for schedule(static) reduction(+ : torn, seen)
    for (long k = 0; k < n; ++k) {
        const Section one = section(work, static_cast<std::size_t>(k));
        if (one.writes) {
            Guard::write(work, one);
        } else {
            torn += Guard::read(work, one);
            seen += static_cast<std::int64_t>(work.length);
        }
    }
    *work.torn = torn;
    *work.seen = seen;
}

} // namespace
