#pragma once

/// Local to each file that includes it: see gates.hpp.

#include "kernels/state-vector/gates.hpp"

namespace {

/// Apply all gates in one pass for the low qubits, and one for each group of higher qubits.
inline void group_by_group(const State& s) {
    const std::size_t low = low_of(s);
    for (std::size_t block = 0; block < bit(s.qubits - low); ++block) low_gates(s, block, low);
    for (std::size_t q = low; q < s.qubits; q += s.together) {
        const std::size_t end = minimum(q + s.together, s.qubits);
        for (std::size_t run = 0; run < runs_of(s, q, end); ++run)
            high_gates(s, run_at(run, q, end), run_of(q), q, end);
    }
}

} // namespace
