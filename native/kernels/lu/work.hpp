#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// P A = L U in the place of A, with the largest remaining element of each column as its pivot: L below the
/// diagonal (its own is of ones), U on it and above. Stored column by column without gaps.
struct Matrix {
    double* a; ///< n by n elements.
    std::size_t n;
    std::int64_t* exchanged; ///< For each column: the row that was exchanged with its own, from 0.
    /// The first column without a pivot, since all its remaining elements are zero; n if each has one. The
    /// factorisation continues without it, as in LAPACK.
    std::int64_t* singular;

    std::size_t tile;    ///< Columns of a panel, sides of a tile: a multiple of all rows of strips.
    double* panels;      ///< Room for two panels in strips, of all rows.
    std::size_t* orders; ///< Room for two orders of all rows.
    std::size_t panel;   ///< Elements of one of them.
    double* rows;        ///< Scratch memory of each thread for the rows of a tile in strips.
    std::size_t room;    ///< Elements of one of them.
    double* tiles;       ///< Room for all of A in tiles.
};

} // namespace assay::kernels
