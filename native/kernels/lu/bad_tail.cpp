// build: -O2
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    const std::size_t full = w.n ? (w.n - 1) / 8 * 8 : 0;
    for (std::size_t j = 0; j < w.n; ++j) {
        choose(w, j, w.n);
        exchange_row(w, j, 0, w.n);
        scale(w, j);
        for (std::size_t c = j + 1; c < full; ++c) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "broken-tail",
    .parent = "panels",
    .why = "wrong on purpose: columns that do not fill a strip of eight are not updated",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
