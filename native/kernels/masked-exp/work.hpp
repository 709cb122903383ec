#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

enum class Function { exp, log, sin, cos, acosh };

/// y = f(x) where x is above zero, and zero elsewhere.
struct Masked {
    const double* x;
    double* y;
    std::size_t n;
    Function function;
    double patch;       ///< A value without special handling in the function.
    std::size_t active; ///< Number of elements above zero.
};

} // namespace assay::kernels
