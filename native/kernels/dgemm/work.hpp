#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// C = A B, each stored column by column without gaps; previous elements of C are not read.
struct Product {
    const double* a; ///< m by k.
    const double* b; ///< k by n.
    double* c;       ///< m by n.
    std::size_t m, n, k;

    double* strips;     ///< Space for tile_k columns of A, with 32 more rows than it has.
    double* tiles;      ///< Space for a tile of B for each thread.
    std::size_t room;   ///< Number of elements for each thread: tile_k rows of tile_n + 32 columns.
    std::size_t tile_k; ///< Depth of a tile: columns of A, rows of B.
    std::size_t tile_n; ///< Columns of a tile of B.

    std::size_t ahead_l2; ///< Distance of prefetch in steps of the innermost loop; 0 for none.
    std::size_t ahead_l1;
};

} // namespace assay::kernels
