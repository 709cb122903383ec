#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/bandwidth/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::copying;
using assay::kernels::Cost;
using assay::kernels::reading;
using assay::kernels::Streams;

/// Process elements from `first` to before `last`. Return their sum if the operation only reads.
inline double move(const Streams& work, std::size_t first, std::size_t last) {
    const double* __restrict from = work.from;
    const double* __restrict other = work.other;
    double* __restrict to = work.to;
    if (work.operation == reading) {
        // Several sums, so that an addition waits only for the previous addition to the same sum.
        constexpr std::size_t sums = 64;
        double sum[sums] = {};
        std::size_t i = first;
        for (; i + sums <= last; i += sums)
            for (std::size_t j = 0; j < sums; ++j) sum[j] += from[i + j];
        for (; i < last; ++i) sum[0] += from[i];
        double whole = 0.0;
        for (const double one : sum) whole += one;
        return whole;
    }
    if (work.operation == copying) {
        for (std::size_t i = first; i < last; ++i) to[i] = from[i];
        return 0.0;
    }
    for (std::size_t i = first; i < last; ++i) to[i] = from[i] + work.factor * other[i];
    return 0.0;
}

inline void move_all(const Streams& work) {
    const double sum = move(work, 0, work.n);
    if (work.operation == reading) *work.sum = sum;
}

} // namespace
