// build: -O2
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) apply_gate_to_block(s, q, 0, s.qubits);
    for (std::size_t q = 0; q + 2 < s.qubits; ++q) apply_phase_to_block(s, q, 0, s.qubits);
}

constexpr Variant<State> variant{
    .id = "broken-phase",
    .parent = "gates",
    .why = "wrong on purpose: the phase of the last two qubits is left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
