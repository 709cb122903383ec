// build: -O2
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    for (std::size_t j = 0; j < w.n; ++j) {
        w.exchanged[j] = static_cast<std::int64_t>(j);
        scale(w, j);
        for (std::size_t c = j + 1; c < w.n; ++c) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "broken-diagonal",
    .parent = "columns",
    .why = "wrong on purpose: the element on the diagonal is the pivot, whatever its size",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
