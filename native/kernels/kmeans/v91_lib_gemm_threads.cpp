// build: -O3 -ffp-contract=fast -ffast-math -fopenmp
// for: avx2
#include "kernels/kmeans/gemm.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay::kernels {

namespace {

void run(const Assignment& a) {
    Sgemm* const sgemm = one_thread_sgemm();
    float* const norms = a.scratch;
    fill_norms(a, norms);
    float* const scores = norms + group * groups_of(a.k);
    const auto blocks = static_cast<std::int64_t>((a.n + gemm_points - 1) / gemm_points);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < blocks; ++i) {
#ifdef _OPENMP
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#else
        const std::size_t thread = 0;
#endif
        assign_by_product(a, sgemm, norms, scores + thread * gemm_scratch_for(a.k),
                          static_cast<std::size_t>(i) * gemm_points);
    }
}

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("lib-gemm-threads"),
    .parent = ASSAY_ID("lib-gemm"),
    .why = "all threads, each with products of its own, as scikit-learn does it",
    .isa = compiled_for,
    .run = run,
    .missing = gemm_missing,
    .cost = by_products,
    .library = gemm_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
