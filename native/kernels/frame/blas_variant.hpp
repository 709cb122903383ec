#pragma once

/// Functions for variants that use a BLAS; local to the including file.

#include "kernels/frame/blas.hpp"

namespace {

template <const assay::kernels::Blas& (*blas)(), class Work>
const char* missing_blas(const Work&) {
    return blas().missing();
}

template <const assay::kernels::Blas& (*blas)()>
const char* blas_version() {
    return blas().version();
}

} // namespace
