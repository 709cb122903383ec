#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/locks/work.hpp"

namespace {

using assay::kernels::Entry;
using assay::kernels::Lookups;

/// Operations of one section.
struct Section {
    std::size_t first; ///< Index of the first entry that it uses.
    bool writes;
};

/// Return a section. It depends only on its number (by the finalizer of MurmurHash3), not on the thread.
inline Section section(const Lookups& work, std::size_t number) {
    std::uint64_t x = number + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
    x ^= x >> 33U;
    return {static_cast<std::size_t>((x >> 8U) % work.entries), (x & 0xffU) * 100U < work.writes * 256U};
}

/// Change the entries of a section.
inline void change(const Lookups& work, const Section& one) {
    for (std::size_t i = 0; i < work.length; ++i) {
        // Atomic accesses, since other threads read entries without a lock in some variants.
        Entry& entry = work.table[(one.first + i) % work.entries];
        __atomic_store_n(&entry.first, entry.first + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&entry.second, entry.second + 1, __ATOMIC_RELAXED);
    }
}

/// Read the entries of a section, and return the number of half-changed ones.
inline std::int64_t read_entries(const Lookups& work, const Section& one) {
    std::int64_t torn = 0;
    for (std::size_t i = 0; i < work.length; ++i) {
        const Entry& entry = work.table[(one.first + i) % work.entries];
        torn += __atomic_load_n(&entry.first, __ATOMIC_RELAXED) !=
                __atomic_load_n(&entry.second, __ATOMIC_RELAXED);
    }
    return torn;
}

} // namespace
