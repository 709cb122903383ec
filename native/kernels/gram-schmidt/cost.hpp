#pragma once

/// Costs of variants that move more than the kernel states.

#include "kernels/gram-schmidt/work.hpp"

namespace {

using assay::kernels::Base;
using assay::kernels::Cost;

/// Return the cost if each vector is processed separately: two words of each element for the product, three
/// for each of two updates.
[[maybe_unused]] inline Cost unblocked(const Base& w) {
    const double elements = static_cast<double>(w.n) * static_cast<double>(w.vectors);
    return {6.0 * elements, 0.0, 64.0 * elements, 64.0 * elements};
}

/// Return the cost if vectors are processed in groups: the base is read once if a group stays in a cache.
[[maybe_unused]] inline Cost by_groups(const Base& w) {
    const double n = static_cast<double>(w.n), j = static_cast<double>(w.vectors);
    const double bytes = 8.0 * n * (w.together < w.vectors ? 2.0 * j + 4.0 : 3.0 * j + 5.0);
    return {6.0 * n * j, 0.0, bytes, bytes};
}

/// Return the cost of two passes: two products and two updates of x, but one of y. The base is read only once
/// more, since an updated chunk is still in a cache for its second product.
[[maybe_unused]] inline Cost repeated(const Base& w) {
    const double n = static_cast<double>(w.n), j = static_cast<double>(w.vectors);
    const double bytes = 8.0 * n * (4.0 * j + 7.0);
    return {10.0 * n * j, 0.0, bytes, bytes};
}

} // namespace
