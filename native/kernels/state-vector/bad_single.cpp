// build: -O2
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    all_gates(s);
    double& last = s.re[bit(s.qubits) - 1];
    last = static_cast<double>(static_cast<float>(last));
}

constexpr Variant<State> variant{
    .id = "broken-single",
    .parent = "gates",
    .why = "wrong on purpose: one amplitude is rounded to single precision",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
