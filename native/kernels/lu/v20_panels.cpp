// build: -O3
#include "kernels/lu/plain.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix& w) {
    *w.singular = static_cast<std::int64_t>(w.n);
    for (std::size_t k = 0; k < w.n; k += w.tile) {
        const std::size_t end = k + w.tile < w.n ? k + w.tile : w.n;
        for (std::size_t j = k; j < end; ++j) {
            choose(w, j, w.n);
            exchange_row(w, j, 0, w.n);
            scale(w, j);
            for (std::size_t c = j + 1; c < end; ++c) subtract(w, j, c);
        }
        for (std::size_t c = end; c < w.n; ++c)
            for (std::size_t j = k; j < end; ++j) subtract(w, j, c);
    }
}

constexpr Variant<Matrix> variant{
    .id = "panels",
    .parent = "columns",
    .why = "panel by panel: all columns of one update a column to its right while that is in the cache",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
