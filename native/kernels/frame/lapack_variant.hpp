#pragma once

/// Functions for variants that use a LAPACK; local to the including file.

#include "kernels/frame/lapack.hpp"

namespace {

using assay::kernels::Lapack;
using LapackOf = const Lapack& (*)();

template <LapackOf lapack, class Work>
const char* missing_lapack(const Work&) {
    return lapack().missing();
}

template <LapackOf lapack>
const char* lapack_version() {
    return lapack().version();
}

} // namespace
