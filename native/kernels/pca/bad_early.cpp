// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/jacobi.hpp"
#include "kernels/pca/order.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    jacobi(w, 3);
    give_in_order(w, w.matrix, w.p + 1);
}

constexpr Variant<Components> variant{
    .id = "broken-early",
    .parent = "once",
    .why = "wrong on purpose: rotations end after three sweeps, before the other elements vanish",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
