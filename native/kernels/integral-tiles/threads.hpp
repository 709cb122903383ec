#pragma once

/// Local to each file that includes it: see tiles.hpp.

#include "kernels/integral-tiles/vectors.hpp"

namespace {

/// Threads take the tiles of some rows after another: what they add to is theirs alone.
template <class Way>
void rows_side_by_side(const Contraction& w) {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < w.n; i += w.tile) rows_of<Way>(w, i);
}

} // namespace
