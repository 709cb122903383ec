#pragma once

/// Shared by variants for different processors. Everything here is local to the including file: of a function
/// with one definition per program, the linker might keep the version for a newer processor.

#include "kernels/state-vector/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Cost;
using assay::kernels::Gate;
using assay::kernels::Phase;
using assay::kernels::State;

inline std::size_t minimum(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

constexpr std::size_t bit(std::size_t qubit) {
    return std::size_t{1} << qubit;
}

/// Apply a gate to contiguous amplitudes for which the qubit is not set, and to those for which it is: 28
/// operations for each pair.
inline void apply_gate(const State& s, const Gate& g, std::size_t clear, std::size_t set, std::size_t count) {
    double *const re = s.re + clear, *const im = s.im + clear, *const re1 = s.re + set,
                  *const im1 = s.im + set;
    const double a = g.re[0][0], ai = g.im[0][0], b = g.re[0][1], bi = g.im[0][1];
    const double c = g.re[1][0], ci = g.im[1][0], d = g.re[1][1], di = g.im[1][1];
#pragma GCC ivdep
    for (std::size_t k = 0; k < count; ++k) {
        const double x = re[k], xi = im[k], y = re1[k], yi = im1[k];
        re[k] = a * x - ai * xi + b * y - bi * yi;
        im[k] = a * xi + ai * x + b * yi + bi * y;
        re1[k] = c * x - ci * xi + d * y - di * yi;
        im1[k] = c * xi + ci * x + d * yi + di * y;
    }
}

/// Multiply contiguous amplitudes by a phase.
inline void apply_phase(const State& s, const Phase& p, std::size_t first, std::size_t count) {
    double *const re = s.re + first, *const im = s.im + first;
#pragma GCC ivdep
    for (std::size_t k = 0; k < count; ++k) {
        const double x = re[k], xi = im[k];
        re[k] = p.re * x - p.im * xi;
        im[k] = p.re * xi + p.im * x;
    }
}

/// Apply the gate of a qubit to the 2^end amplitudes that begin at `first`.
inline void apply_gate_to_block(const State& s, std::size_t qubit, std::size_t first, std::size_t end) {
    const std::size_t step = bit(qubit);
    for (std::size_t k = first; k < first + bit(end); k += 2 * step)
        apply_gate(s, s.gates[qubit], k, k + step, step);
}

/// Apply the phase of a qubit and the next one to the 2^end amplitudes that begin at `first`.
inline void apply_phase_to_block(const State& s, std::size_t qubit, std::size_t first, std::size_t end) {
    const std::size_t step = bit(qubit);
    for (std::size_t k = first + 3 * step; k < first + bit(end); k += 4 * step)
        apply_phase(s, s.phases[qubit], k, step);
}

/// Apply all gates of the lowest qubits to a block of contiguous amplitudes.
inline void low_gates(const State& s, std::size_t block, std::size_t low) {
    const std::size_t first = block << low;
    for (std::size_t q = 0; q < low; ++q) apply_gate_to_block(s, q, first, low);
    for (std::size_t q = 0; q + 1 < low; ++q) apply_phase_to_block(s, q, first, low);
}

/// Apply all gates of the qubits from `from` to before `end` to runs of contiguous amplitudes, which differ
/// in these qubits.
///
/// \param first first amplitude of the run in which none of these qubits is set.
inline void high_gates(const State& s, std::size_t first, std::size_t run, std::size_t from,
                       std::size_t end) {
    const std::size_t runs = bit(end - from);
    for (std::size_t q = from; q < end; ++q)
        for (std::size_t r = 0; r < runs; ++r)
            if ((r & bit(q - from)) == 0) {
                const std::size_t clear = first + (r << from);
                apply_gate(s, s.gates[q], clear, clear + bit(q), run);
            }
    for (std::size_t q = from - 1; q + 1 < end; ++q)
        for (std::size_t r = 0; r < runs; ++r) {
            const std::size_t at = first + (r << from);
            if ((at >> q & 3U) == 3U) apply_phase(s, s.phases[q], at, run);
        }
}

/// Return the number of amplitudes of a run: at most those that differ only in qubits below `from` - 1, since
/// the phase of that qubit depends on `from`.
inline std::size_t run_of(std::size_t from) {
    constexpr std::size_t page = 512;
    return minimum(bit(from - 1), page);
}

/// Return the number of runs in which none of these qubits is set.
inline std::size_t runs_of(const State& s, std::size_t from, std::size_t end) {
    return bit(s.qubits - (end - from)) / run_of(from);
}

/// Return the first amplitude of such a run.
inline std::size_t run_at(std::size_t number, std::size_t from, std::size_t end) {
    const std::size_t at = number * run_of(from), below = at & (bit(from) - 1);
    return (at >> from << end) + below;
}

inline std::size_t low_of(const State& s) {
    return minimum(s.low, s.qubits);
}

inline void all_gates(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) apply_gate_to_block(s, q, 0, s.qubits);
    for (std::size_t q = 0; q + 1 < s.qubits; ++q) apply_phase_to_block(s, q, 0, s.qubits);
}

/// Return the number of operations: a gate on each qubit, and a phase on a quarter of the amplitudes for each
/// pair of adjacent qubits.
inline double flops(const State& s) {
    const double all = static_cast<double>(bit(s.qubits)), n = static_cast<double>(s.qubits);
    return all * (14.0 * n + (s.qubits ? 1.5 * (n - 1.0) : 0.0));
}

/// Return the cost with a number of passes over all amplitudes.
inline Cost cost_of(const State& s, std::size_t passes) {
    const double bytes = 32.0 * static_cast<double>(bit(s.qubits)) * static_cast<double>(passes);
    return {.flops = flops(s), .bytes = bytes, .bytes_with_allocate = bytes};
}

/// Return the cost with a pass for the gates of low qubits, and one for each group of higher qubits.
[[maybe_unused]] inline Cost grouped_cost(const State& s) {
    return cost_of(s, 1 + (s.qubits - low_of(s) + s.together - 1) / s.together);
}

} // namespace
