// build: -O2 -fno-tree-vectorize
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

void run(const State& s) {
    const std::size_t low = low_of(s);
    for (std::size_t block = 0; block < bit(s.qubits - low); ++block) low_gates(s, block, low);
    for (std::size_t q = low; q < s.qubits; ++q) apply_gate_to_block(s, q, 0, s.qubits);
    for (std::size_t q = low - 1; q + 1 < s.qubits; ++q) apply_phase_to_block(s, q, 0, s.qubits);
}

Cost cost(const State& s) {
    const auto all = static_cast<double>(bit(s.qubits));
    const std::size_t above = s.qubits - low_of(s);
    Cost found = cost_of(s, 1 + above);
    found.bytes += 8.0 * all * static_cast<double>(above);
    found.bytes_with_allocate = found.bytes;
    return found;
}

constexpr Variant<State> variant{
    .id = "blocks",
    .parent = "gates",
    .why = "all gates of the lowest qubits at once, on a block of amplitudes that a cache holds",
    .run = run,
    .cost = cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
