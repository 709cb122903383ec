#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// A walk through all lines of a memory area in random order: each line contains the index of the next one.
struct Chase {
    /// Element 8 i belongs to line i and contains the index of the element in the next line.
    const std::uint64_t* next;
    std::uint64_t* end; ///< Last position of each walk.
    std::size_t lines;
};

/// Number of elements of a line.
inline constexpr std::size_t line_elements = 8;
/// Number of independent walks, each from another start.
inline constexpr std::size_t walks = 8;

} // namespace assay::kernels
