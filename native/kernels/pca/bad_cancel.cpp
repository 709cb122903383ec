// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    zero(w.sums, w.wide * w.wide);
    zero(w.means, w.p);
    for (std::size_t i = 0; i < w.n; ++i)
        for (std::size_t j = 0; j < w.p; ++j) w.means[j] += w.x[i * w.p + j] / static_cast<double>(w.n);
    add_products(w.x, w.n, w.p, w.sums, w.wide);
    for (std::size_t j = 0; j < w.p; ++j)
        for (std::size_t k = 0; k <= j; ++k)
            w.sums[j * w.wide + k] -= static_cast<double>(w.n) * w.means[j] * w.means[k];
    correlate(w, w.sums, w.wide);
    decompose<Double2>(w);
}

constexpr Variant<Components> variant{
    .id = "broken-cancel",
    .parent = "once",
    .why = "wrong on purpose: subtracts the product of means at the end, which cancels all digits if means "
           "are large relative to spreads",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
