#pragma once

namespace assay::kernels {

/// Of the next parallel region; 1 where this was built without OpenMP.
int threads();

} // namespace assay::kernels
