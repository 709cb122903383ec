#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

struct Colour {
    float red, green, blue;
};

/// The assignment step of Lloyd's algorithm: for every point the nearest centre.
struct Assignment {
    const Colour* points;
    const Colour* centres;
    std::int32_t* nearest; ///< For each point the index of a centre.
    float* scratch;        ///< scratch_for(k, threads) floats, aligned to 64 bytes.
    std::size_t n;
    std::size_t k; ///< Number of centres, at least one.
};

/// Size of a group of centres; the last one is padded.
constexpr std::size_t group = 16;

constexpr std::size_t groups_of(std::size_t k) {
    return (k + group - 1) / group;
}

/// Number of points whose distances to all centres a library computes at once.
constexpr std::size_t gemm_points = 64;

/// Return the number of floats for the distances of `gemm_points` points, for one thread.
constexpr std::size_t gemm_scratch_for(std::size_t k) {
    return gemm_points * group * groups_of(k);
}

/// Return the number of floats for four values of each centre, and for the distances that a library computes
/// for each thread.
constexpr std::size_t scratch_for(std::size_t k, std::size_t threads) {
    return 4 * group * groups_of(k) + threads * gemm_scratch_for(k);
}

} // namespace assay::kernels
