// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/acoustic/passes.hpp"

namespace assay::kernels {

namespace {

void run(const Wave& w) {
    Wave two = w;
    two.together = 2;
    two.band = w.ny;
    passes<Tile<Eight, 1, 1, ByLoads, false>, radius / 2>(two);
}

constexpr Variant<Wave> bad_stale{
    .id = "broken-stale",
    .parent = "rows",
    .why = "wrong on purpose: a step in the same pass follows the one before it half as far behind as "
           "neighbours reach",
    .isa = Isa::v3,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_stale);

} // namespace assay::kernels
