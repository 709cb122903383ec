#pragma once

/// What variants that hand their work to a BLAS say of it; local to each file that includes it.

#include "kernels/frame/blas.hpp"

namespace {

template <const assay::kernels::Blas& (*blas)(), class Work>
const char* missing_blas(const Work&) {
    return blas().missing();
}

template <const assay::kernels::Blas& (*blas)()>
const char* told_blas() {
    return blas().told();
}

} // namespace
