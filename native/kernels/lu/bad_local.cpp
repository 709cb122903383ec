// build: -O2
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    for (std::size_t j = 0; j < w.n; ++j) {
        const std::size_t end = (j / w.tile + 1) * w.tile;
        choose(w, j, end < w.n ? end : w.n);
        exchange_row(w, j, 0, w.n);
        scale(w, j);
        for (std::size_t c = j + 1; c < w.n; ++c) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "broken-local",
    .parent = "panels",
    .why = "wrong on purpose: searches the pivot in the diagonal tile alone",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
