#pragma once

#include "kernels/locks/section.hpp"

namespace {

/// Execute all sections, divided among all threads.
///
/// \tparam Guard type with `read` and `write`, which read or change the entries of a section under a lock.
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

/// A mutual-exclusion lock, for readers and writers.
///
/// \tparam Lock type with `take` and `release`.
template <class Lock>
struct Exclusive {
    static std::int64_t read(const Lookups& work, const Section& one) {
        Lock::take(work);
        const std::int64_t torn = read_entries(work, one);
        Lock::release(work);
        return torn;
    }
    static void write(const Lookups& work, const Section& one) {
        Lock::take(work);
        change(work, one);
        Lock::release(work);
    }
};

/// Wait by reading the word, which stays in the thread's own cache, and exchange it only when it is free.
inline void take_patiently(int* word) {
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0) {
        while (__atomic_load_n(word, __ATOMIC_RELAXED) != 0) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
}

} // namespace
