#pragma once

#include "kernels/frame/library.hpp"

namespace assay::kernels {

/// OpenBLAS, or what ASSAY_OPENBLAS names.
const Library& blas();

} // namespace assay::kernels
