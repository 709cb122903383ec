// build: -O3
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    for (std::size_t j = 0; j < w.n; ++j) {
        choose(w, j, w.n);
        exchange_row(w, j, 0, w.n);
        scale(w, j);
        for (std::size_t c = j + 1; c < w.n; ++c) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "columns",
    .parent = "",
    .why = "column by column: each updates all columns to its right at once, so that the rest of the matrix "
           "is read and written for each",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
