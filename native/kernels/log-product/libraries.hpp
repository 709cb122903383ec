#pragma once

#include "kernels/log-product/work.hpp"

namespace assay::kernels {

/// Return the logarithm of `lanes` doubles of the C library's vector functions (glibc 2.22 and later), or of
/// the library named by ASSAY_LIBMVEC. Names: https://sourceware.org/glibc/wiki/libmvec
void* libmvec_log(int lanes);
const char* libmvec_missing(const Logarithms&);
const char* libmvec_version();

/// Return the logarithm of SLEEF (https://sleef.org), within one unit in the last place, or of the library
/// named by ASSAY_SLEEF.
void* sleef_log(int lanes);
const char* sleef_missing(const Logarithms&);
const char* sleef_version();

} // namespace assay::kernels
