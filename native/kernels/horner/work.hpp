#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Evaluates a polynomial at every element of an array, and writes or sums the values.
struct Polynomial {
    const double* x;
    double* y;       ///< Values; null if they are summed.
    double* sum;     ///< Sum of all values; not written if the values are.
    const double* c; ///< degree + 1 coefficients, the constant first.
    std::size_t n;
    std::size_t degree;
};

} // namespace assay::kernels
