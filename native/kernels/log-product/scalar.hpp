#pragma once

/// Local to each file that includes it.

#include "kernels/log-product/work.hpp"

#include <math.h>

#include <cstddef>

namespace {

using assay::kernels::Logarithms;

inline void scalar(const Logarithms& l) {
    for (std::size_t i = 0; i < l.n; ++i) l.c[i] = log(l.a[i]) * log(l.b[i]);
}

} // namespace
