#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// A supernode: unknowns that are eliminated one after another, and depend on the same later ones. Its part
/// of L is a matrix with `columns` columns and `columns` + `below` rows, stored column by column. Elements
/// above the diagonal are not used.
struct Node {
    std::int64_t first; ///< Number of its first column.
    std::int64_t panel; ///< Offset of its part of L.
    std::int64_t list;  ///< Offset of the list of its rows below the columns.
    std::int32_t columns;
    std::int32_t below; ///< Number of rows below the columns.
    /// Number of nodes that it depends on, directly before it, plus one: 1, or more than 2.
    std::int32_t size;
};

/// A = L L', the matrix of flow through a square grid whose cells have a different conductance to each of
/// their four neighbours. The last cell of each row and the cells of the last row conduct to the
/// surroundings. Unknowns are cells, in the order of their elimination.
struct Factor {
    const double *east, *north; ///< Conductance of each cell to the next one of its row, and of its column.
    std::size_t edge;           ///< Number of cells of a row, and of rows.
    /// Position of each cell in the order of elimination; cells are numbered x + edge * y.
    const std::int32_t* number;
    const std::int32_t* cell;  ///< Cell at each position in the order of elimination.
    const std::int32_t* owner; ///< Node of each column.
    const std::int32_t* rows;  ///< Rows of all nodes below their columns, in ascending order for each node.
    const Node* nodes;         ///< Each node after those that it depends on.
    std::size_t count;         ///< Number of nodes.
    double* l;

    double* stack;         ///< Space for the updates that nodes pass to their ancestors.
    double* strip;         ///< Space for a part of the update of one node by another.
    std::int32_t* places;  ///< Space for a position of each row.
    std::int32_t* waiting; ///< Space for three numbers for each node: see `Waiting`.
};

/// Number of columns of a node that are updated at once.
inline constexpr std::size_t strip_columns = 32;

} // namespace assay::kernels
