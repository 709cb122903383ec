// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    decompose<Double2>(w);
    for (std::size_t i = 0; i < w.p; ++i) w.values[i] = w.values[i] > 0.0 ? __builtin_sqrt(w.values[i]) : 0.0;
}

constexpr Variant<Components> variant{
    .id = "broken-scale",
    .parent = "once",
    .why = "wrong on purpose: singular values instead of their squares",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
