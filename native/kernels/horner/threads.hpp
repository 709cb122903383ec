#pragma once

#include "kernels/horner/vectors.hpp"

namespace {

/// Shares pieces of whole cache lines and of whole steps among all threads: the rest of a step is processed
/// in one chain, many times slower, and would occur in each piece.
template <class V, std::size_t chains>
void side_by_side(const Polynomial& p) {
    double sum = 0.0;
    constexpr std::size_t piece = 48 * chains * sizeof(V) / sizeof(double);
    const auto pieces = static_cast<long>((p.n + piece - 1) / piece);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < pieces; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * piece;
        const std::size_t last = first + piece < p.n ? first + piece : p.n;
        sum += evaluate<V, chains>(p, first, last);
    }
    if (!p.y) *p.sum = sum;
}

} // namespace
