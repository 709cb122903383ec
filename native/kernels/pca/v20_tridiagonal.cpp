// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/cost.hpp"
#include "kernels/pca/pairs.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    standardise(w);
    multiply_pairs(w);
    decompose<Double2>(w);
}

constexpr Variant<Components> variant{
    .id = "tridiagonal",
    .parent = "plain",
    .why = "eigenvalues by way of a tridiagonal matrix (Householder, then implicit QR), a tenth of the "
           "operations",
    .run = run,
    .cost = by_copy,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
