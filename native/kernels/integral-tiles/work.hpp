#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// J_ij = sum of (ij|kl) D_kl and K_ik = sum of (ij|kl) D_jl: Coulomb and exchange matrices of a density,
/// from the integrals between all pairs of n functions.
///
/// The integrals lie in tiles of at most `tile` in each of their four indices, the last index varying first.
/// Tiles at the borders are smaller, so that there are no gaps between tiles.
struct Contraction {
    const double* integrals;
    const double* density; ///< n by n, the last index varying first, as all matrices here.
    double* coulomb;
    double* exchange;
    std::size_t n;
    std::size_t tile;
};

} // namespace assay::kernels
