#pragma once

namespace assay::kernels {

/// Return the number of threads of the next parallel region, or 1 in a build without OpenMP.
int threads();

} // namespace assay::kernels
