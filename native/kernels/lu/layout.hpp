#pragma once

/// Where elements are: in columns, or in stacks (strips of rows, tiles). What works on a part of the matrix
/// takes either, for in both rows lie side by side as far as a vector or a strip reaches.

#include "kernels/lu/work.hpp"
#include "kernels/product/strips.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Matrix;

/// Columns as the matrix has them.
struct Columns {
    static constexpr bool padded = false; ///< Whether the last rows may be written with some beyond them.
    double* first;
    std::size_t down; ///< From one column to the next.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return first + i + j * down; }
    /// Rows from i on that lie side by side.
    [[nodiscard]] static std::size_t run(std::size_t) { return SIZE_MAX; }
};

/// Rows in parts one below the other, each stored by itself, column by column.
struct Stack {
    static constexpr bool padded = true;
    double* first;
    std::size_t down;  ///< From one column to the next: the rows of a part.
    std::size_t apart; ///< From one part to the next.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const {
        return first + i / down * apart + i % down + j * down;
    }
    [[nodiscard]] std::size_t run(std::size_t i) const { return down - i % down; }
};

/// The matrix where it is.
struct InPlace {
    static constexpr bool tiled = false;
    const Matrix& w;

    /// What begins at an element of the diagonal's row and the block's column.
    [[nodiscard]] Columns block(std::size_t i, std::size_t j) const { return {w.a + i + j * w.n, w.n}; }
};

/// In tiles: those of the same columns one after the other, and what is beyond the matrix is room.
struct InTiles {
    static constexpr bool tiled = true;
    const Matrix& w;

    [[nodiscard]] Stack block(std::size_t i, std::size_t j) const {
        const std::size_t along = (w.n + w.tile - 1) / w.tile, elements = w.tile * w.tile;
        return {w.tiles + (i / w.tile + j / w.tile * along) * elements, w.tile, elements};
    }
};

} // namespace
