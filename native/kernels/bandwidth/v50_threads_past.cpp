// build: -O3 -ffp-contract=fast -fopenmp
// for: avx2
#include "kernels/bandwidth/past.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move_past);
}

constexpr Variant<Streams> variant{
    .id = ASSAY_ID("threads-past-caches"),
    .parent = ASSAY_ID("past-caches"),
    .why = "all threads",
    .isa = compiled_for,
    .run = run,
    .missing = past_missing,
    .cost = past_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
