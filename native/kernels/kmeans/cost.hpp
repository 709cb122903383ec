#pragma once

/// Operations and bytes; local to each file that includes it: see vectors.hpp.

#include "kernels/kmeans/work.hpp"

#include <cstdint>

namespace {

using assay::kernels::Assignment;
using assay::kernels::Colour;
using assay::kernels::Cost;

/// Return the number of bytes if points and centres are read, and results are written.
inline double moved_bytes(double n, double k) {
    return sizeof(Colour) * (n + k) + sizeof(std::int32_t) * n;
}

/// Return the cost from the number of operations for each pair of a point and a centre, and for each centre;
/// comparisons are not counted.
inline Cost cost_of(const Assignment& a, double pair, double centre) {
    const auto n = static_cast<double>(a.n), k = static_cast<double>(a.k);
    const double moved = moved_bytes(n, k);
    return {pair * n * k + centre * k, 0.0, moved, moved + sizeof(std::int32_t) * n};
}

/// Return the cost of three differences, three squares and two sums for each pair.
[[maybe_unused]] inline Cost by_differences(const Assignment& a) {
    return cost_of(a, 8.0, 0.0);
}

/// Return the cost of three products and their sums for each pair, and half of the squared distance to the
/// origin for each centre.
[[maybe_unused]] inline Cost by_products(const Assignment& a) {
    return cost_of(a, 6.0, 6.0);
}

} // namespace
