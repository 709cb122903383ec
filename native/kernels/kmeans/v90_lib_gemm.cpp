// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2
#include "kernels/kmeans/gemm.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment& a) {
    Sgemm* const sgemm = one_thread_sgemm();
    float* const norms = a.scratch;
    fill_norms(a, norms);
    for (std::size_t first = 0; first < a.n; first += gemm_points)
        assign_by_product(a, sgemm, norms, norms + group * groups_of(a.k), first);
}

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("lib-gemm"),
    .parent = ASSAY_ID("split-fast"),
    .why = "a matrix product by OpenBLAS for each 64 points, in one thread",
    .isa = compiled_for,
    .run = run,
    .missing = gemm_missing,
    .cost = by_products,
    .library = gemm_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
