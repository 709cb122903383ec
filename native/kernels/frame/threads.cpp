#include "kernels/frame/threads.hpp"

#ifdef _OPENMP
#include <omp.h>

#include <algorithm>
#endif

namespace assay::kernels {

int threads() {
#ifdef _OPENMP
    // omp_get_max_threads() does not include OMP_THREAD_LIMIT.
    return std::min(omp_get_max_threads(), omp_get_thread_limit());
#else
    return 1;
#endif
}

} // namespace assay::kernels
