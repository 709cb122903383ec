#pragma once

#include "kernels/horner/vectors.hpp"

namespace {

/// Divide the work among all threads, in pieces of whole cache lines and whole steps: the rest of a step is
/// processed in a single chain, which is many times slower, and would otherwise occur in each piece.
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
