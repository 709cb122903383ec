#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Hash functions, numbered as in their names.
enum class Function { sha1 = 1, md5 = 5, sha256 = 256, sha512 = 512 };

/// Distance between digests in bytes: the length of the longest digest.
constexpr std::size_t digest_place = 64;

/// Messages that are contiguous in memory, and their digests.
struct Hashing {
    const unsigned char* data;
    unsigned char* digests;
    std::size_t messages;
    std::size_t length; ///< Length of each message, in bytes.
    Function function;
};

} // namespace assay::kernels
