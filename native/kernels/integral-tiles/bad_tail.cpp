// build: -O2
#include "kernels/integral-tiles/tiles.hpp"

namespace assay::kernels {

namespace {

void run(const Contraction& w) {
    for (std::size_t i = 0; i < w.n; i += w.tile) {
        clear(w, range(w, i));
        for (std::size_t j = 0; j < w.n; j += w.tile)
            for (std::size_t k = 0; k < w.n; k += w.tile)
                for (std::size_t l = 0; l < w.n; l += w.tile)
                    if (i + j + k + l + 4 * w.tile < 4 * w.n) OneByOne::add(w, tile(w, i, j, k, l));
    }
}

constexpr Variant<Contraction> variant{
    .id = "broken-tail",
    .parent = "tiles",
    .why = "wrong on purpose: the last tile is left out",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
