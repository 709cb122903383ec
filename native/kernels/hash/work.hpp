#pragma once

#include "kernels/frame/variant.hpp"

#include <cstddef>

namespace assay::kernels {

/// Hash function, by the number in its name; MD5's is 5.
enum class Function { sha1 = 1, md5 = 5, sha256 = 256, sha512 = 512 };

constexpr std::size_t digest_place = 64; ///< Distance between digests in bytes; the longest fills it.

/// Digests of messages that lie one after the other.
struct Hashing {
    const unsigned char* data;
    unsigned char* digests;
    std::size_t messages;
    std::size_t length; ///< Length of each message, in bytes.
    Function function;
};

} // namespace assay::kernels
