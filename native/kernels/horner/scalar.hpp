#pragma once

/// Local to each file that includes it, for the reason that vectors.hpp gives.

#include "kernels/horner/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Polynomial;

inline double at(const Polynomial& p, double x) {
    double value = p.c[p.degree];
    for (std::size_t k = p.degree; k > 0; --k) value = value * x + p.c[k - 1];
    return value;
}

} // namespace
