#pragma once

/// Local to each file that includes it: see horner/vectors.hpp.

#include "kernels/traversal/work.hpp"

#include <cstddef>
#include <cstdint>

namespace {

/// Visit contiguous words, and return their sum.
inline std::uint64_t visit(const assay::kernels::Words& work, std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    std::uint64_t* const data = work.data;
    if (work.update)
        for (std::size_t i = first; i < last; ++i) sum += data[i] |= 1U;
    else
        for (std::size_t i = first; i < last; ++i) sum += data[i];
    return sum;
}

/// Visit the array as a matrix whose rows are `pitch` words long, in columns of `width` words, and return the
/// sum.
inline std::uint64_t by_columns(const assay::kernels::Words& work, std::size_t width, std::size_t pitch) {
    std::uint64_t sum = 0;
    for (std::size_t column = 0; column < pitch && column < work.count; column += width) {
        const std::size_t columns = column + width < pitch ? width : pitch - column;
        for (std::size_t first = column; first < work.count; first += pitch) {
            const std::size_t last = first + columns;
            sum += visit(work, first, last < work.count ? last : work.count);
        }
    }
    return sum;
}

} // namespace
