#pragma once

#include "kernels/xor-parity/groups.hpp"
#include "kernels/xor-parity/isal.hpp"

namespace {

inline void isal_at_once(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                         std::size_t n) {
    if (count == 1) {
        __builtin_memcpy(target, sources[0], n);
        return;
    }
    void* array[disks + 1];
    for (std::size_t s = 0; s < count; ++s) array[s] = const_cast<unsigned char*>(sources[s]);
    array[count] = target;
    assay::kernels::xor_gen()(static_cast<int>(count + 1), static_cast<int>(n), array);
}

/// Combine the first two sources into the target, and then each other source with the target.
inline void isal_in_pairs(unsigned char* target, const unsigned char* const* sources, std::size_t count,
                          std::size_t n) {
    isal_at_once(target, sources, count < 2 ? count : 2, n);
    for (std::size_t s = 2; s < count; ++s) {
        const unsigned char* const pair[2] = {target, sources[s]};
        isal_at_once(target, pair, 2, n);
    }
}

} // namespace
