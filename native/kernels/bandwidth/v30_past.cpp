// build: -O3 -ffp-contract=fast
// for: avx2
#include "kernels/bandwidth/past.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    const double sum = move_past(work, 0, work.n);
    if (work.operation == reading) *work.sum = sum;
}

constexpr Variant<Streams> variant{
    .id = ASSAY_ID("past-caches"),
    .parent = ASSAY_ID("vector"),
    .why = "stores past the caches: a line that is written whole is not read first",
    .isa = compiled_for,
    .run = run,
    .missing = past_missing,
    .cost = past_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
