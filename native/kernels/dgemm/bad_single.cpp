// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    for (std::size_t j = 0; j < w.n; ++j) {
        for (std::size_t i = 0; i < w.m; ++i) {
            float sum = 0.0F;
            for (std::size_t p = 0; p < w.k; ++p)
                sum += static_cast<float>(w.a[i + p * w.m] * w.b[p + j * w.k]);
            w.c[i + j * w.m] = static_cast<double>(sum);
        }
    }
}

constexpr Variant<Product> variant{
    .id = "broken-single",
    .parent = "naive",
    .why = "wrong on purpose: sums are in single precision",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
