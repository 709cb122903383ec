#pragma once

/// The loops of the article, which only the compiler optimises. Local to the including file, since each file
/// is compiled with its own flags.

#include "kernels/kmeans/work.hpp"

#include <float.h>
#include <math.h>

#include <cstddef>
#include <cstdint>

namespace {

using assay::kernels::Assignment;
using assay::kernels::Colour;

/// Return the squared distance by std::pow(x, 2), which computes in double precision.
inline float squared_by_pow(const Colour& a, const Colour& b) {
    const float red = a.red - b.red;
    const float green = a.green - b.green;
    const float blue = a.blue - b.blue;
    return static_cast<float>(pow(static_cast<double>(red), 2.0) + pow(static_cast<double>(green), 2.0) +
                              pow(static_cast<double>(blue), 2.0));
}

inline float squared(const Colour& a, const Colour& b) {
    const float red = a.red - b.red;
    const float green = a.green - b.green;
    const float blue = a.blue - b.blue;
    return red * red + green * green + blue * blue;
}

/// Find distance, minimum and index in one loop.
///
/// \tparam Index type of the centres' index.
template <class Index, float distance(const Colour&, const Colour&)>
void fused(const Assignment& a) {
    const auto k = static_cast<Index>(a.k);
    for (std::size_t p = 0; p < a.n; ++p) {
        float best = FLT_MAX;
        Index found = 0;
        for (Index i = 0; i < k; ++i) {
            const float one = distance(a.points[p], a.centres[i]);
            if (one < best) {
                best = one;
                found = i;
            }
        }
        a.nearest[p] = static_cast<std::int32_t>(found);
    }
}

/// Find the minimum, and then the index of the first element that equals it: the second and third of three
/// loops. The article tests for an element less than the minimum, which does not exist.
inline std::int32_t first_least(const float* distances, std::int32_t k) {
    float best = FLT_MAX;
    for (std::int32_t i = 0; i < k; ++i) best = distances[i] < best ? distances[i] : best;
    std::int32_t found = k;
    for (std::int32_t i = 0; i < k; ++i) {
        const std::int32_t one = distances[i] == best ? i : k;
        found = one < found ? one : found;
    }
    return found;
}

inline void split(const Assignment& a) {
    const auto k = static_cast<std::int32_t>(a.k);
    float* __restrict const distances = a.scratch;
    for (std::size_t p = 0; p < a.n; ++p) {
        const Colour point = a.points[p];
        for (std::int32_t i = 0; i < k; ++i) distances[i] = squared(point, a.centres[i]);
        a.nearest[p] = first_least(distances, k);
    }
}

/// Use the three loops, over centres whose colours are stored in three arrays.
inline void by_colour(const Assignment& a) {
    float* __restrict const red = a.scratch;
    float* __restrict const green = red + a.k;
    float* __restrict const blue = green + a.k;
    float* __restrict const distances = blue + a.k;
    for (std::size_t i = 0; i < a.k; ++i) {
        red[i] = a.centres[i].red;
        green[i] = a.centres[i].green;
        blue[i] = a.centres[i].blue;
    }
    const auto k = static_cast<std::int32_t>(a.k);
    for (std::size_t p = 0; p < a.n; ++p) {
        const Colour point = a.points[p];
        for (std::int32_t i = 0; i < k; ++i) distances[i] = squared(point, {red[i], green[i], blue[i]});
        a.nearest[p] = first_least(distances, k);
    }
}

/// Process blocks of points that stay in registers or the first-level cache: all points of a block with one
/// centre at a time. The last block is padded with its last point.
inline void by_blocks(const Assignment& a) {
    constexpr std::size_t block = 64;
    for (std::size_t first = 0; first < a.n; first += block) {
        float red[block], green[block], blue[block], best[block];
        std::int32_t found[block] = {};
        for (std::size_t j = 0; j < block; ++j) {
            const Colour& point = a.points[first + j < a.n ? first + j : a.n - 1];
            red[j] = point.red;
            green[j] = point.green;
            blue[j] = point.blue;
            best[j] = FLT_MAX;
        }
        for (std::size_t i = 0; i < a.k; ++i) {
            const Colour centre = a.centres[i];
            for (std::size_t j = 0; j < block; ++j) {
                const float one = squared({red[j], green[j], blue[j]}, centre);
                found[j] = one < best[j] ? static_cast<std::int32_t>(i) : found[j];
                best[j] = one < best[j] ? one : best[j];
            }
        }
        for (std::size_t j = 0; j < block && first + j < a.n; ++j) a.nearest[first + j] = found[j];
    }
}

} // namespace
