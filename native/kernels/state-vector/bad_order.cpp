// build: -O2
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) {
        turn_all(s, q, 0, s.qubits);
        if (q + 1 < s.qubits) shift_all(s, q, 0, s.qubits);
    }
}

constexpr Variant<State> bad_order{
    .id = "broken-order",
    .parent = "gates",
    .why = "wrong on purpose: each phase comes before the gate of its second qubit",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_order);

} // namespace assay::kernels
