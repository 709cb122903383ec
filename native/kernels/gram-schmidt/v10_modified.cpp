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

constexpr Variant<Base> modified{
    .id = "modified",
    .parent = nullptr,
    .why = "the modified method as the simulator had it: a product and two updates for one vector after the "
           "other",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = unblocked,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(modified);

} // namespace assay::kernels
