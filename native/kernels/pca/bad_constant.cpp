// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    for (std::size_t j = 0; j < w.p; ++j) w.matrix[j * w.p + j] = 1.0;
    decompose<Double2>(w);
}

constexpr Variant<Components> variant{
    .id = "broken-constant",
    .parent = "once",
    .why = "wrong on purpose: a feature without spread correlates with itself",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
