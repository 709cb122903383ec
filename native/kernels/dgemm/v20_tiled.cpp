// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    for (std::size_t i = 0; i < w.m * w.n; ++i) w.c[i] = 0.0;
    for (std::size_t q = 0; q < w.k; q += w.tile_k) {
        const std::size_t deep = q + w.tile_k < w.k ? q + w.tile_k : w.k;
        for (std::size_t s = 0; s < w.n; s += w.tile_n) {
            const std::size_t wide = s + w.tile_n < w.n ? s + w.tile_n : w.n;
            for (std::size_t j = s; j < wide; ++j)
                for (std::size_t p = q; p < deep; ++p)
                    for (std::size_t i = 0; i < w.m; ++i)
                        w.c[i + j * w.m] += w.a[i + p * w.m] * w.b[p + j * w.k];
        }
    }
}

constexpr Variant<Product> variant{
    .id = "tiled",
    .parent = "naive",
    .why = "tiles of B (336 by 112 in the article): a column of C stays in the cache for all rows of a tile",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
