#pragma once

/// Words at any address, in the order of bytes of the format.

#include <bit>
#include <cstdint>
#include <cstring>

namespace assay::kernels {

namespace {

static_assert(std::endian::native == std::endian::little, "streams are written by whole words");

inline std::uint32_t load_32(const unsigned char* from) {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

inline std::uint64_t load_64(const unsigned char* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

inline void store_16(unsigned char* to, std::uint16_t word) {
    std::memcpy(to, &word, sizeof word);
}

inline void store_64(unsigned char* to, std::uint64_t word) {
    std::memcpy(to, &word, sizeof word);
}

} // namespace

} // namespace assay::kernels
