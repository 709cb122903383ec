// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/copies.hpp"
#include "kernels/pca/cost.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    standardise_rows<false>(w);
    zero(w.sums, w.wide * w.wide);
    add_products(w.scores, w.n, w.p, w.sums, w.wide);
    correlate(w, w.sums, w.wide);
    decompose<Double2>(w);
}

constexpr Variant<Components> variant{
    .id = "rows",
    .parent = "tridiagonal",
    .why =
        "products row by row, in the order of memory, four rows at a time and half of the symmetric matrix",
    .run = run,
    .cost = by_scaled_copy,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
