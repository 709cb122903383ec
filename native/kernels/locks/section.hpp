#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/locks/work.hpp"

namespace {

using assay::kernels::Entry;
using assay::kernels::Lookups;

/// Operations of one section.
struct Section {
    std::size_t first; ///< Indices of the entries that it uses.
    bool writes;
};

/// Returns a section, which follows from its number alone (the finalizer of MurmurHash3), on any thread.
inline Section section(const Lookups& work, std::size_t number) {
    std::uint64_t x = number + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
    x ^= x >> 33U;
    return {static_cast<std::size_t>((x >> 8U) % work.entries), (x & 0xffU) * 100U < work.writes * 256U};
}

/// Changes the entries of a section.
inline void change(const Lookups& work, const Section& one) {
    for (std::size_t i = 0; i < work.length; ++i) {
        // Others look at them without a lock in some variants: each access is one, whole.
        Entry& entry = work.table[(one.first + i) % work.entries];
        __atomic_store_n(&entry.first, entry.first + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&entry.second, entry.second + 1, __ATOMIC_RELAXED);
    }
}

/// Reads the entries of a section; returns the number of half-changed ones.
inline std::int64_t look(const Lookups& work, const Section& one) {
    std::int64_t torn = 0;
    for (std::size_t i = 0; i < work.length; ++i) {
        const Entry& entry = work.table[(one.first + i) % work.entries];
        torn += __atomic_load_n(&entry.first, __ATOMIC_RELAXED) !=
                __atomic_load_n(&entry.second, __ATOMIC_RELAXED);
    }
    return torn;
}

} // namespace
