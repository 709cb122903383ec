// build: -O2
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base& w) {
    // The elements of a cache line, so that some are missing at any length of vectors that is not zero.
    constexpr std::size_t chunk = 8;
    const std::size_t full = w.n ? (w.n - 1) / chunk * chunk : 0;
    for (std::size_t i = 0; i < w.vectors; ++i) {
        w.sums[i] = 0.0;
        for (std::size_t k = 0; k < full; ++k) w.sums[i] += w.q[k + i * w.stride] * w.x[k];
    }
    for (std::size_t i = 0; i < w.vectors; ++i) {
        for (std::size_t k = 0; k < full; ++k) {
            w.x[k] -= w.sums[i] * w.q[k + i * w.stride];
            w.y[k] -= w.sums[i] * w.d[k + i * w.stride];
        }
    }
}

constexpr Variant<Base> variant{
    .id = "broken-tail",
    .parent = "blocked-avx2",
    .why = "wrong on purpose: elements that do not fill a chunk are left out (the listings read past the end "
           "instead)",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
