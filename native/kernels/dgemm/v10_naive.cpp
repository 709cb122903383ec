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

constexpr Variant<Product> naive{
    .id = "naive",
    .parent = nullptr,
    .why = "three loops as the article writes them, p-j-i: all of C is read and written for each column of A",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(naive);

} // namespace assay::kernels
