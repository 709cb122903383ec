#pragma once

/// What variants that hand their work to a LAPACK say of it; local to each file that includes it.

#include "kernels/frame/lapack.hpp"

namespace {

using assay::kernels::Lapack;
using LapackOf = const Lapack& (*)();

template <LapackOf lapack, class Work>
const char* missing_lapack(const Work&) {
    return lapack().missing();
}

template <LapackOf lapack>
const char* told_lapack() {
    return lapack().told();
}

} // namespace
