#pragma once

/// Local to each file that includes it: see gates.hpp.

#include "kernels/state-vector/gates.hpp"

namespace {

/// Apply all gates as group_by_group does; blocks and runs are divided among threads.
inline void groups_side_by_side(const State& s) {
    const std::size_t low = low_of(s);
#pragma omp parallel for schedule(static)
    for (std::size_t block = 0; block < bit(s.qubits - low); ++block) low_gates(s, block, low);
    for (std::size_t q = low; q < s.qubits; q += s.together) {
        const std::size_t end = minimum(q + s.together, s.qubits);
#pragma omp parallel for schedule(static)
        for (std::size_t run = 0; run < runs_of(s, q, end); ++run)
            high_gates(s, run_at(run, q, end), run_of(q), q, end);
    }
}

} // namespace
