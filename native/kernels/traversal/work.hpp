#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// An array whose words are summed, each once, in any order.
struct Words {
    std::uint64_t* data;
    std::size_t count;
    bool update; ///< True to set the lowest bit of each word as well, which may be repeated.
    std::uint64_t* sum;
};

constexpr std::size_t words_of(std::size_t bytes) {
    return bytes / sizeof(std::uint64_t);
}

} // namespace assay::kernels
