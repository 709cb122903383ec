#pragma once

#include "kernels/log-product/work.hpp"

namespace assay::kernels {

/// The logarithm of the C library's vector functions (glibc 2.22 and later), or of what ASSAY_LIBMVEC names:
/// of `lanes` doubles at a time. Names: https://sourceware.org/glibc/wiki/libmvec
void* libmvec_log(int lanes);
const char* libmvec_missing(const Logarithms&);
const char* libmvec_version();

/// That of SLEEF (https://sleef.org), within one unit in the last place; or of what ASSAY_SLEEF names.
void* sleef_log(int lanes);
const char* sleef_missing(const Logarithms&);
const char* sleef_version();

} // namespace assay::kernels
