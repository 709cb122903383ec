#pragma once

#include "kernels/xor-parity/groups.hpp"

namespace {

inline void words_in_pairs(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                           std::size_t n) {
    constexpr std::size_t size = sizeof(std::size_t);
    __builtin_memcpy(target, sources[0], n);
    for (std::size_t s = 1; s < count; ++s) {
        std::size_t i = 0;
        for (; i + size <= n; i += size) {
            std::size_t a, b;
            __builtin_memcpy(&a, target + i, size);
            __builtin_memcpy(&b, sources[s] + i, size);
            a ^= b;
            __builtin_memcpy(target + i, &a, size);
        }
        for (; i < n; ++i) target[i] ^= sources[s][i];
    }
}

} // namespace
