#pragma once

namespace assay::kernels {

/// Returns the number of threads of the next parallel region; 1 in a build without OpenMP.
int threads();

} // namespace assay::kernels
