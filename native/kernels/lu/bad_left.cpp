// build: -O2
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    for (std::size_t j = 0; j < w.n; ++j) {
        choose(w, j, w.n);
        exchange_row(w, j, j / w.tile * w.tile, w.n);
        scale(w, j);
        for (std::size_t c = j + 1; c < w.n; ++c) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "broken-left",
    .parent = "panels",
    .why = "wrong on purpose: rows are not exchanged in columns to the left of the panel",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
