#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// c = log(a) * log(b), element by element.
struct Logarithms {
    const double* a;
    const double* b;
    double* c;
    std::size_t n;
};

} // namespace assay::kernels
