// build: -O2
#include "kernels/gram-schmidt/cost.hpp"

namespace assay::kernels {

namespace {

void run(const Base& w) {
    for (std::size_t i = 0; i < w.vectors; ++i) {
        const double* q = w.q + i * w.stride;
        const double* d = w.d + i * w.stride;
        double sum = 0.0;
        for (std::size_t k = 0; k < w.n; ++k) sum += q[k] * w.x[k];
        for (std::size_t k = 0; k < w.n; ++k) w.x[k] -= sum * q[k];
        for (std::size_t k = 0; k < w.n; ++k) w.y[k] -= sum * d[k];
        w.sums[i] = sum;
    }
}

constexpr Variant<Base> variant{
    .id = "modified",
    .parent = "",
    .why = "the modified method of the simulator: a product and two updates for one vector after the other",
    .run = run,
    .cost = unblocked,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
