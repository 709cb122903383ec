#pragma once

#include "kernels/frame/library.hpp"

namespace assay::kernels {

/// Return OpenBLAS, or the library named by ASSAY_OPENBLAS.
const Library& blas();

} // namespace assay::kernels
