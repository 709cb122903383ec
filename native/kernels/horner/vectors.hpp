#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/frame/vectors.hpp"
#include "kernels/horner/scalar.hpp"

#include <cstddef>

namespace {

/// Number of chains that fit the vector registers (16 with AVX2, 32 with AVX-512) together with the
/// coefficient.
constexpr std::size_t chains_in_registers = sizeof(Doubles) == sizeof(Double8) ? 15 : 10;

/// Ordinary stores, through the caches.
struct Kept {
    template <class V>
    static void store(double* to, const V& value) {
        __builtin_memcpy(to, &value, sizeof(V));
    }
};

/// Evaluate elements from `first` to before `last`. Return the sum of the values if they are not written.
///
/// \tparam V a vector of doubles. \tparam chains number of vectors processed at once: a multiply-add waits
/// only for the previous one of the same chain. \tparam Store way to write a vector.
template <class V, std::size_t chains, class Store = Kept>
inline double evaluate(const Polynomial& p, std::size_t first, std::size_t last) {
    constexpr std::size_t lanes = sizeof(V) / sizeof(double);
    constexpr std::size_t step = lanes * chains;
    V sums[chains] = {};
    std::size_t i = first;
    for (; i + step <= last; i += step) {
        V x[chains], value[chains];
#pragma GCC unroll 16
        for (std::size_t j = 0; j < chains; ++j) {
            __builtin_memcpy(&x[j], p.x + i + lanes * j, sizeof(V));
            value[j] = V{} + p.c[p.degree];
        }
        for (std::size_t k = p.degree; k > 0; --k) {
            const V c = V{} + p.c[k - 1];
#pragma GCC unroll 16
            for (std::size_t j = 0; j < chains; ++j) value[j] = value[j] * x[j] + c;
        }
#pragma GCC unroll 16
        for (std::size_t j = 0; j < chains; ++j) {
            if (p.y)
                Store::store(p.y + i + lanes * j, value[j]);
            else
                sums[j] += value[j];
        }
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < chains; ++j)
        for (std::size_t l = 0; l < lanes; ++l) sum += sums[j][l];
    for (; i < last; ++i) {
        const double value = at(p, p.x[i]);
        if (p.y)
            p.y[i] = value;
        else
            sum += value;
    }
    return sum;
}

template <class V, std::size_t chains>
void serially(const Polynomial& p) {
    const double sum = evaluate<V, chains>(p, 0, p.n);
    if (!p.y) *p.sum = sum;
}

} // namespace
