#pragma once

#include "kernels/frame/buffer.hpp"
#include "kernels/frame/check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace assay::kernels {

using Byte = unsigned char;

/// Number of bytes after which data repeat, a prime: the check needs only as many correct bytes, however
/// large the data are.
inline constexpr std::size_t period = 4099;
using Pattern = std::array<Byte, period>;

/// Return a pseudorandom number, by splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators, 2014).
inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

/// Return the number of bytes from i to the end of the pattern or of the data.
inline std::size_t run_at(std::size_t i, std::size_t n) {
    return std::min(period - i % period, n - i);
}

/// Return pseudorandom bytes, different for each `number`.
inline Pattern pattern_of(std::size_t number) {
    Pattern found;
    for (std::size_t i = 0; i < period; ++i) found[i] = static_cast<Byte>(mixed(number * period + i));
    return found;
}

inline void fill(const Buffer<Byte>& data, const Pattern& pattern) {
    for (std::size_t i = 0, run = 0; i < data.size(); i += run) {
        run = run_at(i, data.size());
        std::memcpy(data.data() + i, pattern.data() + i % period, run);
    }
}

/// Return the verdict for output that has to be exact, but is wrong at a position.
inline Verdict wrong_at(const std::string& what, std::size_t i) {
    return {false, std::numeric_limits<double>::max(), what + " is wrong at byte " + std::to_string(i)};
}

inline Verdict same(const std::string& what, const Buffer<Byte>& data, const Pattern& pattern) {
    for (std::size_t i = 0, run = 0; i < data.size(); i += run) {
        run = run_at(i, data.size());
        const Byte* wanted = pattern.data() + i % period;
        if (std::memcmp(data.data() + i, wanted, run) != 0)
            return wrong_at(what,
                            static_cast<std::size_t>(
                                std::mismatch(wanted, wanted + run, data.data() + i).second - data.data()));
    }
    return {true, 0.0, ""};
}

} // namespace assay::kernels
