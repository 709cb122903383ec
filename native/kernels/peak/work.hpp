#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Multiply-adds of numbers in registers: each adds one to a counter, so the sum of the counters tells how
/// many there were.
struct Counting {
    const double* one; ///< Factor and addend; from memory, so that no compiler works it out before.
    double* sum;
    std::size_t n; ///< Multiply-adds.
    bool single;   ///< True for floats, false for doubles.
};

} // namespace assay::kernels
