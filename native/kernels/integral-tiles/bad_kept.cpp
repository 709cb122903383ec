// build: -O2
#include "kernels/integral-tiles/tiles.hpp"

namespace assay::kernels {

namespace {

void run(const Contraction& w) {
    clear(w, {0, w.n ? 1U : 0U});
    for (std::size_t i = 0; i < w.n; i += w.tile)
        for (std::size_t j = 0; j < w.n; j += w.tile)
            for (std::size_t k = 0; k < w.n; k += w.tile)
                for (std::size_t l = 0; l < w.n; l += w.tile) OneByOne::add(w, tile(w, i, j, k, l));
}

constexpr Variant<Contraction> variant{
    .id = "broken-kept",
    .parent = "tiles",
    .why = "wrong on purpose: rows from the second on are not cleared first",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
