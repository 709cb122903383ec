#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Multiply-adds of numbers in registers: each adds one to a counter, so that the sum of all counters is the
/// number of multiply-adds.
struct Counting {
    /// Factor and addend. Read from memory, so that no compiler computes the result in advance.
    const double* one;
    double* sum;
    std::size_t n; ///< Number of multiply-adds.
    bool single;   ///< True for floats, false for doubles.
};

} // namespace assay::kernels
