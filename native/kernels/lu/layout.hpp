#pragma once

/// Layout of elements: in columns, or in stacks (strips of rows, tiles). Functions for a part of the matrix
/// accept either, since rows are contiguous in both as far as a vector or a strip reaches.

#include "kernels/lu/work.hpp"
#include "kernels/product/strips.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Matrix;

/// Columns as the matrix has them.
struct Columns {
    static constexpr bool padded = false; ///< True if writes may go beyond the last rows.
    double* first;
    std::size_t down; ///< Distance between columns.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return first + i + j * down; }
    /// Rows from i on that lie side by side.
    [[nodiscard]] static std::size_t run(std::size_t) { return SIZE_MAX; }
};

/// Rows in parts one below the other, each stored by itself, column by column.
struct Stack {
    static constexpr bool padded = true;
    double* first;
    std::size_t down;  ///< Distance between columns: the rows of a part.
    std::size_t apart; ///< Distance between parts.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const {
        return first + i / down * apart + i % down + j * down;
    }
    [[nodiscard]] std::size_t run(std::size_t i) const { return down - i % down; }
};

/// The matrix where it is.
struct InPlace {
    static constexpr bool tiled = false;
    const Matrix& w;

    /// The part that begins at an element of the diagonal's row and the block's column.
    [[nodiscard]] Columns block(std::size_t i, std::size_t j) const { return {w.a + i + j * w.n, w.n}; }
};

/// In tiles: those of the same columns one after the other, with room beyond the matrix.
struct InTiles {
    static constexpr bool tiled = true;
    const Matrix& w;

    [[nodiscard]] Stack block(std::size_t i, std::size_t j) const {
        const std::size_t along = (w.n + w.tile - 1) / w.tile, elements = w.tile * w.tile;
        return {w.tiles + (i / w.tile + j / w.tile * along) * elements, w.tile, elements};
    }
};

} // namespace
