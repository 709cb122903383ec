// build: -O2 -fno-math-errno
#include "kernels/pca/cost.hpp"
#include "kernels/pca/jacobi.hpp"
#include "kernels/pca/order.hpp"
#include "kernels/pca/pairs.hpp"

namespace assay::kernels {

namespace {

/// Maximum number of sweeps, which is more than any matrix needs.
constexpr std::size_t max_jacobi_sweeps = 30;

void run(const Components& w) {
    standardise(w);
    multiply_pairs(w);
    jacobi(w, max_jacobi_sweeps);
    give_in_order(w, w.matrix, w.p + 1);
}

constexpr Variant<Components> variant{
    .id = "plain",
    .parent = "",
    .why = "as in the formulas: a standardised copy, a sum of products for each pair of features, rotations "
           "of pairs (Jacobi) until only the diagonal is left",
    .run = run,
    .cost = by_copy,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
