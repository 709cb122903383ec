// build: -O2
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

double product(const Base& w, std::size_t i, std::size_t first, std::size_t end) {
    double sum = 0.0;
    for (std::size_t k = first; k < end; ++k) sum += w.q[k + i * w.stride] * w.x[k];
    return sum;
}

void run(const Base& w) {
    const std::size_t ends[] = {0, w.n / 2, w.n};
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = 0.0;
    for (int c = 0; c < 2; ++c) {
        for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] += product(w, i, ends[c], ends[c + 1]);
        for (std::size_t k = ends[c]; k < ends[c + 1]; ++k) {
            for (std::size_t i = 0; i < w.vectors; ++i) {
                w.x[k] -= w.sums[i] * w.q[k + i * w.stride];
                w.y[k] -= w.sums[i] * w.d[k + i * w.stride];
            }
        }
    }
}

constexpr Variant<Base> variant{
    .id = "broken-early",
    .parent = "blocked-avx2",
    .why = "wrong on purpose: the first chunk is updated before the products of the second are known",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
