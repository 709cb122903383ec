#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Operations on arrays.
enum Operation : int {
    reading = 0, ///< All elements are summed.
    copying = 1, ///< to = from.
    triad = 2,   ///< to = from + factor * other, as in the STREAM benchmark.
};

/// Arrays that are read and written once.
struct Streams {
    const double* from;
    const double* other;
    double* to;
    double* sum;
    double factor;
    std::size_t n;
    Operation operation;
};

} // namespace assay::kernels
