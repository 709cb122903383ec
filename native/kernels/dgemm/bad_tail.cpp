// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    const std::size_t full = w.m ? (w.m - 1) / 8 * 8 : 0;
    for (std::size_t j = 0; j < w.n; ++j) {
        for (std::size_t i = 0; i < full; ++i) {
            double sum = 0.0;
            for (std::size_t p = 0; p < w.k; ++p) sum += w.a[i + p * w.m] * w.b[p + j * w.k];
            w.c[i + j * w.m] = sum;
        }
    }
}

constexpr Variant<Product> variant{
    .id = "broken-tail",
    .parent = "tiled",
    .why = "wrong on purpose: rows that do not fill a strip of eight are left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
