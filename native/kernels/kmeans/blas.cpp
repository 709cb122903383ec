#include "kernels/kmeans/blas.hpp"

namespace assay::kernels {

const Library& blas() {
    static const Library found("ASSAY_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"});
    return found;
}

} // namespace assay::kernels
