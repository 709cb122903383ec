#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/frame/vectors.hpp"
#include "kernels/peak/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Counting;

template <class Number, std::size_t bytes>
struct VectorOf {
    typedef Number Type __attribute__((vector_size(bytes)));
};

/// Compute multiply-adds in independent chains. Their number exceeds the latency of a multiply-add times the
/// number that begin per cycle.
///
/// \param from initial value of counters, which differs between calls, since a compiler could merge identical
/// calls.
template <class Number, std::size_t bytes>
inline double chained(const double* one, std::size_t n, double from) {
    typedef typename VectorOf<Number, bytes>::Type V;
    constexpr std::size_t lanes = bytes / sizeof(Number), chains = 12;
    const V factor = V{} + static_cast<Number>(*one);
    V counters[chains];
    // Initial values differ, since a compiler could replace identical chains by one.
    for (std::size_t j = 0; j < chains; ++j)
        counters[j] = V{} + static_cast<Number>(from + static_cast<double>(j));
    for (std::size_t i = n / (lanes * chains); i > 0; --i) {
#pragma GCC unroll 16
        for (std::size_t j = 0; j < chains; ++j) counters[j] = counters[j] * factor + factor;
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < chains; ++j)
        for (std::size_t l = 0; l < lanes; ++l)
            sum += static_cast<double>(counters[j][l]) - (from + static_cast<double>(j));
    for (std::size_t i = n % (lanes * chains); i > 0; --i) sum = sum * *one + *one;
    return sum;
}

/// \tparam bytes size of a vector.
template <std::size_t bytes>
inline double count(const Counting& work, std::size_t n, double from = 0.0) {
    return work.single ? chained<float, bytes>(work.one, n, from) : chained<double, bytes>(work.one, n, from);
}

/// Divide multiply-adds among all threads.
template <std::size_t bytes>
inline void count_together(const Counting& work) {
    double sum = 0.0;
    constexpr std::size_t share = 96UL << 10;
    const auto shares = static_cast<long>(work.n / share);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(+ : sum)
#endif
    for (long i = 0; i < shares; ++i) sum += count<bytes>(work, share, static_cast<double>(i));
    *work.sum = sum + count<bytes>(work, work.n % share);
}

} // namespace
