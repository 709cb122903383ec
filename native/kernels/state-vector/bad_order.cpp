// build: -O2
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) {
        apply_gate_to_block(s, q, 0, s.qubits);
        if (q + 1 < s.qubits) apply_phase_to_block(s, q, 0, s.qubits);
    }
}

constexpr Variant<State> variant{
    .id = "broken-order",
    .parent = "gates",
    .why = "wrong on purpose: each phase comes before the gate of its second qubit",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
