// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    Components fewer = w;
    fewer.n = w.n ? (w.n - 1) / 4 * 4 : 0;
    fewer.blocks = (fewer.n + w.block - 1) / w.block;
    correlate_once<Plain>(fewer);
    decompose<Double2>(fewer);
}

constexpr Variant<Components> variant{
    .id = "broken-tail",
    .parent = "once",
    .why = "wrong on purpose: observations that do not fill a group of four are left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
