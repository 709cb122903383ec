// build: -O3 -ffp-contract=fast -ffast-math
// for: avx2
#include "kernels/kmeans/blas.hpp"
#include "kernels/kmeans/cost.hpp"
#include "kernels/kmeans/loops.hpp"

namespace assay::kernels {

namespace {

/// cblas.h of the reference implementation: row-major is 101, no transposition 111, transposition 112.
using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                   int);
constexpr int row_major = 101, as_is = 111, transposed = 112;

const char* missing(const Assignment&) {
    if (!blas().there()) return blas().reason();
    return blas().symbol("cblas_sgemm") ? nullptr : "this BLAS has no cblas_sgemm";
}

const char* name() {
    const auto config = blas().function<char*()>("openblas_get_config");
    return config ? config() : blas().path().c_str();
}

/// As scikit-learn does it: |c|^2 - 2 p.c for a piece of the points by one product of matrices, then the
/// least of each row.
void run(const Assignment& a) {
    const auto sgemm = blas().function<Sgemm>("cblas_sgemm");
    if (const auto threads = blas().function<void(int)>("openblas_set_num_threads")) threads(1);
    float* const norms = a.scratch;
    float* const scores = norms + group * groups_of(a.k);
    for (std::size_t i = 0; i < a.k; ++i) norms[i] = squared(a.centres[i], {0.0F, 0.0F, 0.0F});
    const auto k = static_cast<int>(a.k);
    for (std::size_t first = 0; first < a.n; first += gemm_points) {
        const std::size_t count = a.n - first < gemm_points ? a.n - first : gemm_points;
        for (std::size_t j = 0; j < count; ++j)
            __builtin_memcpy(scores + j * a.k, norms, a.k * sizeof(float));
        sgemm(row_major, as_is, transposed, static_cast<int>(count), k, 3, -2.0F, &a.points[first].red, 3,
              &a.centres[0].red, 3, 1.0F, scores, k);
        for (std::size_t j = 0; j < count; ++j) a.nearest[first + j] = first_least(scores + j * a.k, k);
    }
}

constexpr Variant<Assignment> variant{
    .id = ASSAY_ID("lib-gemm"),
    .parent = ASSAY_ID("split-fast"),
    .why = "a product of matrices by OpenBLAS in one thread, as scikit-learn has it in each",
    .isa = compiled_for,
    .run = run,
    .missing = missing,
    .cost = by_products,
    .library = name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
