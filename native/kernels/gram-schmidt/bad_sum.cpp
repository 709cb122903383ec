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
    for (std::size_t i = 0; i < w.vectors; ++i) w.sums[i] = product(w, i, 0, w.n);
    for (std::size_t k = 0; k < w.n; ++k) {
        double taken = 0.0;
        for (std::size_t i = 0; i < w.vectors; ++i) taken += w.sums[i] * w.q[k + i * w.stride];
        w.x[k] -= taken;
        for (std::size_t i = 0; i < w.vectors; ++i) taken += w.sums[i] * w.d[k + i * w.stride];
        w.y[k] -= taken;
    }
}

constexpr Variant<Base> variant{
    .id = "broken-sum",
    .parent = "blocked-avx2",
    .why = "wrong on purpose: the update of y begins with that of x (listing 4 never zeroes it)",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
