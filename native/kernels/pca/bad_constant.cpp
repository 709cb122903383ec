// build: -O3 -fno-math-errno -fopenmp
#include "kernels/pca/blocks.hpp"
#include "kernels/pca/tridiagonal.hpp"

namespace assay::kernels {

namespace {

void run(const Components& w) {
    correlate_once<Plain>(w);
    for (std::size_t j = 0; j < w.p; ++j) w.matrix[j * w.p + j] = 1.0;
    decompose<Two>(w);
}

constexpr Variant<Components> bad_constant{
    .id = "broken-constant",
    .parent = "once",
    .why = "wrong on purpose: a feature without spread correlates with itself",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_constant);

} // namespace assay::kernels
