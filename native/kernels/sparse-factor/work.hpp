#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Unknowns that are eliminated one after the other, and all of which depend on the same ones that come
/// later: a supernode. Its part of L is a matrix of `columns` columns, each of them and of those below a row,
/// stored column by column; above the diagonal there is nothing of worth.
struct Node {
    std::int64_t first; ///< Number of its columns.
    std::int64_t panel; ///< Offset of its part of L.
    std::int64_t list;  ///< Offset of the list of its rows below the columns.
    std::int32_t columns;
    std::int32_t below; ///< Rows below the columns.
    std::int32_t size;  ///< Nodes that it depends on, right before it, and itself: 1, or more than 2.
};

/// A = L L', the matrix of flow through a square grid whose cells conduct differently to each of their four
/// neighbours. Of the outermost cells, the last of each row and those of the last row conduct to the
/// surroundings. Unknowns are cells, in the order of their elimination.
struct Factor {
    const double *east, *north; ///< Conductance of each cell to the next one of its row, and of its column.
    std::size_t edge;           ///< Cells of a row, and rows.
    const std::int32_t* number; ///< In the order of elimination, of each cell; cells are x + edge * y.
    const std::int32_t* cell;   ///< The same the other way round.
    const std::int32_t* owner;  ///< Node of each column.
    const std::int32_t* rows;   ///< Rows of all nodes below their columns, each node's in order.
    const Node* nodes;          ///< Each after those that it depends on.
    std::size_t count;          ///< Number of nodes.
    double* l;

    double* stack;         ///< Room for the updates that nodes pass to their ancestors.
    double* strip;         ///< Room for a part of the update of one node by another.
    std::int32_t* places;  ///< Room for a place of each row.
    std::int32_t* waiting; ///< Room of three numbers for each node, of those that have something to take out.
};

/// Columns that are taken out of a node at once.
inline constexpr std::size_t strip_columns = 32;

} // namespace assay::kernels
