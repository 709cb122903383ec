#pragma once

/// Costs of variants that move more than the kernel states.

#include "kernels/gram-schmidt/work.hpp"

namespace {

using assay::kernels::Base;
using assay::kernels::Cost;

/// Cost of each vector by itself: two words of each element for the product, three for each of two updates.
[[maybe_unused]] inline Cost unblocked(const Base& w) {
    const double elements = static_cast<double>(w.n) * static_cast<double>(w.vectors);
    return {6.0 * elements, 0.0, 64.0 * elements, 64.0 * elements};
}

/// Cost by groups: the base is read once if a group of it stays in a cache.
[[maybe_unused]] inline Cost by_groups(const Base& w) {
    const double n = static_cast<double>(w.n), j = static_cast<double>(w.vectors);
    const double bytes = 8.0 * n * (w.together < w.vectors ? 2.0 * j + 4.0 : 3.0 * j + 5.0);
    return {6.0 * n * j, 0.0, bytes, bytes};
}

/// Twice: two products and two updates of x, but one of y; the base is read once more, for the chunk that was
/// updated is still there when its second product is formed.
[[maybe_unused]] inline Cost repeated(const Base& w) {
    const double n = static_cast<double>(w.n), j = static_cast<double>(w.vectors);
    const double bytes = 8.0 * n * (4.0 * j + 7.0);
    return {10.0 * n * j, 0.0, bytes, bytes};
}

} // namespace
