#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// A gate of one qubit: two rows of two complex numbers.
struct Gate {
    double re[2][2], im[2][2];
};

/// Factor of the amplitudes in which a qubit and the next one are both set.
struct Phase {
    double re, im;
};

/// A layer of a quantum circuit: a gate on each qubit, and then a phase for each pair of adjacent qubits.
/// Amplitude k is that of the state whose qubit q is bit q of k.
struct State {
    double *re, *im; ///< 2^qubits amplitudes, which are replaced by those after the layer.
    std::size_t qubits;
    const Gate* gates;   ///< Gate of each qubit.
    const Phase* phases; ///< Phase of each qubit and the next one.

    /// Number of lowest qubits, whose gates are applied together to blocks of contiguous amplitudes.
    std::size_t low;
    std::size_t together; ///< Number of higher qubits whose gates are applied together.
};

} // namespace assay::kernels
