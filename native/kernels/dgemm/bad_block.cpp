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

constexpr Variant<Product> bad_block{
    .id = "broken-block",
    .parent = "tiled",
    .why = "wrong on purpose: a tile's product replaces that of the tile before it",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_block);

} // namespace assay::kernels
