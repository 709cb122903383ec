#pragma once

/// Local to each file that includes it: assignment by a matrix product of a BLAS.

#include "kernels/kmeans/blas.hpp"
#include "kernels/kmeans/cost.hpp"
#include "kernels/kmeans/loops.hpp"

namespace {

using assay::kernels::blas;
using assay::kernels::gemm_points;
using assay::kernels::gemm_scratch_for;

/// cblas.h of the reference implementation: row-major is 101, no transposition 111, transposition 112.
using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                   int);
constexpr int row_major = 101, as_is = 111, transposed = 112;

inline const char* gemm_missing(const Assignment&) {
    if (!blas().is_loaded()) return blas().reason();
    return blas().symbol("cblas_sgemm") ? nullptr : "this BLAS has no cblas_sgemm";
}

inline const char* gemm_name() {
    const auto config = blas().function<char*()>("openblas_get_config");
    return config ? config() : blas().path().c_str();
}

/// Write |c|^2 of each centre.
inline void fill_norms(const Assignment& a, float* norms) {
    for (std::size_t i = 0; i < a.k; ++i) norms[i] = squared(a.centres[i], {0.0F, 0.0F, 0.0F});
}

/// Return the BLAS function, set to one thread, since parallel variants call it from each of their threads.
inline Sgemm* one_thread_sgemm() {
    if (const auto threads = blas().function<void(int)>("openblas_set_num_threads")) threads(1);
    return blas().function<Sgemm>("cblas_sgemm");
}

/// Assign a block of points as scikit-learn does: |c|^2 - 2 p.c by one matrix product, then the minimum of
/// each row.
inline void assign_by_product(const Assignment& a, Sgemm* sgemm, const float* norms, float* scores,
                              std::size_t first) {
    const auto k = static_cast<int>(a.k);
    const std::size_t count = a.n - first < gemm_points ? a.n - first : gemm_points;
    for (std::size_t j = 0; j < count; ++j) __builtin_memcpy(scores + j * a.k, norms, a.k * sizeof(float));
    sgemm(row_major, as_is, transposed, static_cast<int>(count), k, 3, -2.0F, &a.points[first].red, 3,
          &a.centres[0].red, 3, 1.0F, scores, k);
    for (std::size_t j = 0; j < count; ++j) a.nearest[first + j] = first_least(scores + j * a.k, k);
}

} // namespace
