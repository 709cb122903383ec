#pragma once

#include "kernels/frame/library.hpp"
#include "kernels/masked-exp/work.hpp"

namespace assay::kernels {

/// Return the function for `lanes` doubles of the C library's vector functions (glibc 2.22 and later), or of
/// the library named by ASSAY_LIBMVEC. Names are those of the vector ABI
/// (https://sourceware.org/glibc/wiki/libmvec).
void* libmvec_function(Function function, int lanes);
const char* libmvec_missing(Function function);
const char* libmvec_version();

/// Return the function of SLEEF (https://sleef.org), within one unit in the last place, or of the library
/// named by ASSAY_SLEEF.
void* sleef_function(Function function, int lanes);
const char* sleef_missing(Function function);
const char* sleef_version();

} // namespace assay::kernels
