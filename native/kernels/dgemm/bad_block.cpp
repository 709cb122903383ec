// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    for (std::size_t j = 0; j < w.n; ++j) {
        for (std::size_t i = 0; i < w.m; ++i) {
            double sum = 0.0;
            for (std::size_t p = w.k / 2; p < w.k; ++p) sum += w.a[i + p * w.m] * w.b[p + j * w.k];
            w.c[i + j * w.m] = sum;
        }
    }
}

constexpr Variant<Product> variant{
    .id = "broken-block",
    .parent = "tiled",
    .why = "wrong on purpose: a tile's product replaces that of the tile before it",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
