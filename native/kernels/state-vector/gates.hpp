#pragma once

/// Shared by variants for different processors, so all of it is local to the file that includes it: a
/// function with one definition for the whole program would be the one for the newest processor.

#include "kernels/state-vector/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Cost;
using assay::kernels::Gate;
using assay::kernels::Phase;
using assay::kernels::State;

inline std::size_t least(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

constexpr std::size_t bit(std::size_t qubit) {
    return std::size_t{1} << qubit;
}

/// Some amplitudes side by side for which the qubit is not set, and those for which it is: 28 operations for
/// each two.
inline void turn(const State& s, const Gate& g, std::size_t clear, std::size_t set, std::size_t count) {
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

/// Some amplitudes side by side, all by one phase.
inline void shift(const State& s, const Phase& p, std::size_t first, std::size_t count) {
    double *const re = s.re + first, *const im = s.im + first;
#pragma GCC ivdep
    for (std::size_t k = 0; k < count; ++k) {
        const double x = re[k], xi = im[k];
        re[k] = p.re * x - p.im * xi;
        im[k] = p.re * xi + p.im * x;
    }
}

/// A gate, on all amplitudes from `first` on: as many as there are for the qubits up to `end`.
inline void turn_all(const State& s, std::size_t qubit, std::size_t first, std::size_t end) {
    const std::size_t step = bit(qubit);
    for (std::size_t k = first; k < first + bit(end); k += 2 * step)
        turn(s, s.gates[qubit], k, k + step, step);
}

/// Applies the phase of a qubit and the next one, in the same way.
inline void shift_all(const State& s, std::size_t qubit, std::size_t first, std::size_t end) {
    const std::size_t step = bit(qubit);
    for (std::size_t k = first + 3 * step; k < first + bit(end); k += 4 * step)
        shift(s, s.phases[qubit], k, step);
}

/// All gates of the lowest qubits, on a block of amplitudes side by side.
inline void low_gates(const State& s, std::size_t block, std::size_t low) {
    const std::size_t first = block << low;
    for (std::size_t q = 0; q < low; ++q) turn_all(s, q, first, low);
    for (std::size_t q = 0; q + 1 < low; ++q) shift_all(s, q, first, low);
}

/// All gates of the qubits from `from` to `end`, on runs of amplitudes side by side that differ in them.
///
/// \param first of the run in which none of them is set.
inline void high_gates(const State& s, std::size_t first, std::size_t run, std::size_t from,
                       std::size_t end) {
    const std::size_t runs = bit(end - from);
    for (std::size_t q = from; q < end; ++q)
        for (std::size_t r = 0; r < runs; ++r)
            if ((r & bit(q - from)) == 0) {
                const std::size_t clear = first + (r << from);
                turn(s, s.gates[q], clear, clear + bit(q), run);
            }
    for (std::size_t q = from - 1; q + 1 < end; ++q)
        for (std::size_t r = 0; r < runs; ++r) {
            const std::size_t at = first + (r << from);
            if ((at >> q & 3U) == 3U) shift(s, s.phases[q], at, run);
        }
}

/// Amplitudes of a run: no more than those that the lowest of the qubits leaves alone, and one qubit less,
/// whose phase is another.
inline std::size_t run_of(std::size_t from) {
    constexpr std::size_t page = 512;
    return least(bit(from - 1), page);
}

/// Runs in which none of these qubits is set.
inline std::size_t runs_of(const State& s, std::size_t from, std::size_t end) {
    return bit(s.qubits - (end - from)) / run_of(from);
}

/// The first amplitude of such a run, by its number.
inline std::size_t run_at(std::size_t number, std::size_t from, std::size_t end) {
    const std::size_t at = number * run_of(from), below = at & (bit(from) - 1);
    return (at >> from << end) + below;
}

inline std::size_t low_of(const State& s) {
    return least(s.low, s.qubits);
}

inline void all_gates(const State& s) {
    for (std::size_t q = 0; q < s.qubits; ++q) turn_all(s, q, 0, s.qubits);
    for (std::size_t q = 0; q + 1 < s.qubits; ++q) shift_all(s, q, 0, s.qubits);
}

/// Total work: a gate on each qubit, a phase on a quarter of the amplitudes for each two.
inline double flops(const State& s) {
    const double all = static_cast<double>(bit(s.qubits)), n = static_cast<double>(s.qubits);
    return all * (14.0 * n + (s.qubits ? 1.5 * (n - 1.0) : 0.0));
}

/// Cost with a number of passes over all amplitudes.
inline Cost cost_of(const State& s, std::size_t passes) {
    const double bytes = 32.0 * static_cast<double>(bit(s.qubits)) * static_cast<double>(passes);
    return {.flops = flops(s), .bytes = bytes, .bytes_with_allocate = bytes};
}

/// Passes: the gates of low qubits in the first one, and a group of the higher ones in each other one.
[[maybe_unused]] inline Cost grouped_cost(const State& s) {
    return cost_of(s, 1 + (s.qubits - low_of(s) + s.together - 1) / s.together);
}

} // namespace
