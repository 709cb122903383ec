#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/bandwidth/work.hpp"

#include <cstddef>

namespace {

/// Divide the arrays among all threads, in contiguous pieces.
template <class Piece>
inline void spread(const assay::kernels::Streams& work, Piece piece) {
    double sum = 0.0;
    constexpr std::size_t step = 4096;
    const auto steps = static_cast<long>((work.n + step - 1) / step);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < steps; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * step;
        sum += piece(work, first, first + step < work.n ? first + step : work.n);
    }
    if (work.operation == assay::kernels::reading) *work.sum = sum;
}

} // namespace
