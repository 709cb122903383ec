// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product& w) {
    for (std::size_t i = 0; i < w.m * w.n; ++i) w.c[i] = 0.0;
    for (std::size_t p = 0; p < w.k; ++p)
        for (std::size_t j = 0; j < w.n; ++j)
            for (std::size_t i = 0; i < w.m; ++i) w.c[i + j * w.m] += w.a[i + p * w.m] * w.b[p + j * w.k];
}

constexpr Variant<Product> variant{
    .id = "naive",
    .parent = "",
    .why = "three loops as in the article, p-j-i: all of C is read and written for each column of A",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
