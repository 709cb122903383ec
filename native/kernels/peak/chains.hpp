#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/peak/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Counting;

typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

/// So many multiply-adds, in chains side by side: more than the latency of one times what begins in a cycle.
///
/// \param from where counters begin: two calls that are alike are made once.
template <class V, std::size_t chains>
inline double count(const double* one, std::size_t n, double from = 0.0) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    const V factor = V{} + *one;
    V counters[chains];
    // They begin apart: a compiler may see that all chains are alike, and keep one.
    for (std::size_t j = 0; j < chains; ++j) counters[j] = V{} + (from + static_cast<double>(j));
    for (std::size_t i = n / (lanes * chains); i > 0; --i) {
#pragma GCC unroll 16
        for (std::size_t j = 0; j < chains; ++j) counters[j] = counters[j] * factor + factor;
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < chains; ++j)
        for (std::size_t l = 0; l < lanes; ++l) sum += counters[j][l] - (from + static_cast<double>(j));
    for (std::size_t i = n % (lanes * chains); i > 0; --i) sum = sum * *one + *one;
    return sum;
}

} // namespace
