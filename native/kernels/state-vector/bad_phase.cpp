// build: -O2
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) turn_all(s, q, 0, s.qubits);
    for (std::size_t q = 0; q + 2 < s.qubits; ++q) shift_all(s, q, 0, s.qubits);
}

constexpr Variant<State> bad_phase{
    .id = "broken-phase",
    .parent = "gates",
    .why = "wrong on purpose: the phase of the last two qubits is left out",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_phase);

} // namespace assay::kernels
