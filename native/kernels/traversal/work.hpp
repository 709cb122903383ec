#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// An array all of whose words are to be summed, once each, in whatever order.
struct Words {
    std::uint64_t* data;
    std::size_t count;
    bool update; ///< The lowest bit of each is set as well, which may be done again.
    std::uint64_t* sum;
};

constexpr std::size_t words_of(std::size_t bytes) {
    return bytes / sizeof(std::uint64_t);
}

} // namespace assay::kernels
