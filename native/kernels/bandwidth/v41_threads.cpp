// build: -O3 -ffp-contract=fast -fopenmp
// for: avx512
#include "kernels/bandwidth/move.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move);
}

constexpr Variant<Streams> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("vector"),
    .why = "all threads",
    .isa = compiled_for,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
