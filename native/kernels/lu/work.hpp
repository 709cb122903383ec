#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// P A = L U, stored in the place of A: L below the diagonal (its diagonal elements are ones), U on and above
/// it. The pivot of each column is its largest remaining element. Stored column by column without gaps.
struct Matrix {
    double* a; ///< n by n elements.
    std::size_t n;
    std::int64_t* exchanged; ///< For each column: the row that was exchanged with its own, from 0.
    /// First column without a pivot, whose remaining elements are all zero, or n if each column has one. The
    /// factorisation continues without it, as in LAPACK.
    std::int64_t* singular;

    /// Number of columns of a panel, and edge of a tile: a multiple of the rows of strips on all processors.
    std::size_t tile;
    double* panels;      ///< Space for two panels of all rows, in strips.
    std::size_t* orders; ///< Space for two orders of all rows.
    std::size_t panel;   ///< Number of elements of a panel.
    double* rows;        ///< Scratch memory of each thread for the rows of a tile in strips.
    std::size_t room;    ///< Number of elements for each thread.
    double* tiles;       ///< Space for all of A in tiles.
};

} // namespace assay::kernels
