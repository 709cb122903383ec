// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/cost.hpp"
#include "kernels/pca/pairs.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    standardise(w);
    multiply_pairs(w);
    decompose<Two>(w);
}

constexpr Variant<Components> tridiagonal{
    .id = "tridiagonal",
    .parent = "plain",
    .why = "eigenvalues by way of a tridiagonal matrix (Householder, then implicit QR), a tenth of "
           "the operations",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = by_copy,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(tridiagonal);

} // namespace assay::kernels
