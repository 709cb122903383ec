#pragma once

/// Local to each file that includes it: see tiles.hpp.

#include "kernels/integral-tiles/vectors.hpp"

namespace {

/// Distribute rows of tiles among threads, so that only one thread adds to each element.
template <class Way>
void rows_side_by_side(const Contraction& w) {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < w.n; i += w.tile) rows_of<Way>(w, i);
}

} // namespace
