#pragma once

/// Results in their order; local to the including file.

#include "kernels/pca/work.hpp"

#include <cstddef>

namespace {

using assay::kernels::Components;

/// Copy values, which are `apart` elements from each other, and their rows of the basis in descending order
/// of values.
[[maybe_unused]] void give_in_order(const Components& w, const double* values, std::size_t apart) {
    for (std::size_t i = 0; i < w.p; ++i) {
        std::size_t place = i;
        for (; place > 0 && values[i * apart] > values[w.order[place - 1] * apart]; --place)
            w.order[place] = w.order[place - 1];
        w.order[place] = i;
    }
    for (std::size_t i = 0; i < w.p; ++i) {
        w.values[i] = values[w.order[i] * apart];
        for (std::size_t j = 0; j < w.p; ++j) w.vectors[i * w.p + j] = w.basis[w.order[i] * w.across + j];
    }
}

} // namespace
