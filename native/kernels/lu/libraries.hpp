#pragma once

#include "kernels/frame/lapack_variant.hpp"
#include "kernels/lu/work.hpp"

namespace {

using assay::kernels::Matrix;

template <LapackOf lapack>
void by_library(const Matrix& w) {
    lapack().use_threads();
    *w.singular = lapack().factors(w.n, w.a, w.exchanged);
}

} // namespace
