#pragma once

/// The order of the work, for any way to combine strips. Everything here is local to the including file: of a
/// function with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/xor-parity/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::damaged_disk;
using assay::kernels::disks;
using assay::kernels::lost_disk;
using assay::kernels::Parity;

/// Function that writes the XOR of `count` sources (at least one) of `n` bytes to a target, which is none of
/// them.
typedef void Combine(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                     std::size_t n);

inline std::size_t groups_of(const Parity& p) {
    return (p.stripes + disks - 1) / disks;
}

inline std::size_t stripes_in(const Parity& p, std::size_t group) {
    const std::size_t left = p.stripes - group * disks;
    return left < disks ? left : disks;
}

/// Compute horizontal parities of a group: `n` bytes of each strip, from byte `begin`.
template <Combine* combine>
inline void rows(const Parity& p, std::size_t group, std::size_t begin, std::size_t n) {
    for (std::size_t r = 0; r < stripes_in(p, group); ++r) {
        const std::size_t at = (group * disks + r) * p.strip + begin;
        const unsigned char* sources[disks] = {};
        for (std::size_t j = 0; j < disks; ++j) sources[j] = p.data[j] + at;
        unsigned char* target = p.horizontal + at;
        if (p.rebuild) {
            sources[lost_disk] = p.horizontal + at;
            target = p.data[lost_disk] + at;
        }
        combine(target, sources, disks, n);
    }
}

template <Combine* combine>
inline void columns(const Parity& p, std::size_t group, std::size_t begin, std::size_t n) {
    const std::size_t count = stripes_in(p, group);
    for (std::size_t j = 0; j < disks; ++j) {
        if (p.rebuild && j != damaged_disk) continue;
        const unsigned char* sources[disks] = {};
        for (std::size_t r = 0; r < count; ++r)
            sources[r] = p.data[j] + (group * disks + r) * p.strip + begin;
        unsigned char* target = p.vertical + (group * disks + j) * p.strip + begin;
        if (p.rebuild) {
            const unsigned char* parity = target;
            target = p.data[j] + (group * disks + count / 2) * p.strip + begin;
            sources[count / 2] = parity;
        }
        combine(target, sources, count, n);
    }
}

/// Compute both parities: rows first, since they read each disk from its beginning to its end. A rebuild
/// begins with columns, since rows need the strips that columns rebuild.
template <Combine* combine>
inline void both(const Parity& p, std::size_t group, std::size_t begin, std::size_t n) {
    if (p.rebuild) columns<combine>(p, group, begin, n);
    rows<combine>(p, group, begin, n);
    if (!p.rebuild) columns<combine>(p, group, begin, n);
}

/// Compute all vertical parities, and then all horizontal ones.
template <Combine* combine>
void one_after_the_other(const Parity& p) {
    for (std::size_t g = 0; g < groups_of(p); ++g) columns<combine>(p, g, 0, p.strip);
    for (std::size_t g = 0; g < groups_of(p); ++g) rows<combine>(p, g, 0, p.strip);
}

typedef void Piece(const Parity& p, std::size_t group, std::size_t begin, std::size_t n);

/// Number of bytes of each strip for which both parities are computed together. The pieces of a group (100 of
/// data, 20 of parities) fit a second-level cache.
constexpr std::size_t piece = 4096;

template <Piece* work>
inline void piece_number(const Parity& p, std::size_t number, std::size_t in_strip) {
    const std::size_t begin = number % in_strip * piece;
    work(p, number / in_strip, begin, begin + piece < p.strip ? piece : p.strip - begin);
}

template <Piece* work>
void piece_by_piece(const Parity& p) {
    const std::size_t in_strip = (p.strip + piece - 1) / piece;
    for (std::size_t i = 0; i < groups_of(p) * in_strip; ++i) piece_number<work>(p, i, in_strip);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#ifdef _OPENMP
template <Piece* work>
void side_by_side(const Parity& p) {
    const std::size_t in_strip = (p.strip + piece - 1) / piece;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (std::size_t i = 0; i < groups_of(p) * in_strip; ++i) piece_number<work>(p, i, in_strip);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}
#endif

} // namespace
