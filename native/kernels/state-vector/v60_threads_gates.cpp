// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2 avx512
#include "kernels/state-vector/gates.hpp"

namespace assay::kernels {

namespace {

/// Logarithm of the number of amplitudes processed at a time: so few that no thread waits long for the
/// others.
constexpr std::size_t part = 10;

/// Apply a gate to some of the amplitudes for which its qubit is not set, and to those for which it is.
void turn_part(const State& s, std::size_t qubit, std::size_t number, std::size_t count) {
    const std::size_t at = number * count, below = at & (bit(qubit) - 1);
    const std::size_t clear = (at >> qubit << (qubit + 1)) + below;
    apply_gate(s, s.gates[qubit], clear, clear + bit(qubit), count);
}

void run(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) {
        if (q < part) {
            const std::size_t block = minimum(part, s.qubits);
#pragma omp parallel for schedule(static)
            for (std::size_t i = 0; i < bit(s.qubits - block); ++i)
                apply_gate_to_block(s, q, i << block, block);
        } else {
#pragma omp parallel for schedule(static)
            for (std::size_t i = 0; i < bit(s.qubits - 1 - part); ++i) turn_part(s, q, i, bit(part));
        }
    }
    for (std::size_t q = 0; q + 1 < s.qubits; ++q) {
        const std::size_t run = bit(minimum(q, part));
#pragma omp parallel for schedule(static)
        for (std::size_t at = 0; at < bit(s.qubits); at += run)
            if ((at >> q & 3U) == 3U) apply_phase(s, s.phases[q], at, run);
    }
}

constexpr Variant<State> variant{
    .id = ASSAY_ID("threads-gates"),
    .parent = ASSAY_AVX2("gates") ASSAY_AVX512("threads-gates-avx2"),
    .why = ASSAY_AVX2("all threads, four amplitudes at once, and a pass for each gate as before")
        ASSAY_AVX512("vectors of eight"),
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
