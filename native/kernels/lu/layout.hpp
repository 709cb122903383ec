#pragma once

/// Layout of elements: in columns, or in stacks (strips of rows, tiles). Functions for a part of the matrix
/// accept both, since the rows of a vector or strip are contiguous in both.

#include "kernels/lu/work.hpp"
#include "kernels/product/strips.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Matrix;

/// Columns as stored in the matrix.
struct Columns {
    static constexpr bool padded = false; ///< True if writes beyond the last row are allowed.
    double* first;
    std::size_t down; ///< Distance between columns.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const { return first + i + j * down; }
    /// Return the number of contiguous rows from row i.
    [[nodiscard]] static std::size_t run(std::size_t) { return SIZE_MAX; }
};

/// Rows in parts, one below another, each stored separately, column by column.
struct Stack {
    static constexpr bool padded = true;
    double* first;
    std::size_t down;  ///< Distance between columns: the number of rows of a part.
    std::size_t apart; ///< Distance between parts.

    [[nodiscard]] double* at(std::size_t i, std::size_t j) const {
        return first + i / down * apart + i % down + j * down;
    }
    [[nodiscard]] std::size_t run(std::size_t i) const { return down - i % down; }
};

/// The matrix in its place.
struct InPlace {
    static constexpr bool tiled = false;
    const Matrix& w;

    /// Return the part that begins at row i and column j.
    [[nodiscard]] Columns block(std::size_t i, std::size_t j) const { return {w.a + i + j * w.n, w.n}; }
};

/// The matrix in tiles. Those of the same columns are stored one after another, with padding beyond the
/// matrix.
struct InTiles {
    static constexpr bool tiled = true;
    const Matrix& w;

    [[nodiscard]] Stack block(std::size_t i, std::size_t j) const {
        const std::size_t along = (w.n + w.tile - 1) / w.tile, elements = w.tile * w.tile;
        return {w.tiles + (i / w.tile + j / w.tile * along) * elements, w.tile, elements};
    }
};

} // namespace
