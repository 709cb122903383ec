// build: -O2
#include "kernels/integral-tiles/tiles.hpp"

namespace assay::kernels {

namespace {

void run(const Contraction& w) {
    clear(w, {0, w.n});
    for (std::size_t i = 0; i < w.n; ++i)
        for (std::size_t j = 0; j < w.n; ++j)
            for (std::size_t k = 0; k < w.n; ++k)
                for (std::size_t l = 0; l < w.n; ++l) {
                    const double v = integral(w, i, j, k, l);
                    w.coulomb[i * w.n + j] += v * w.density[k * w.n + l];
                    w.exchange[i * w.n + k] += v * w.density[l * w.n + j];
                }
}

constexpr Variant<Contraction> variant{
    .id = "broken-transposed",
    .parent = "tiles",
    .why = "wrong on purpose: the exchange uses rows of the density as columns",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
