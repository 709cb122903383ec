#include "kernels/frame/threads.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay::kernels {

int threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

} // namespace assay::kernels
