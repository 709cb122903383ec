// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/bandwidth/past.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    const double sum = move_past(work, 0, work.n);
    if (work.operation == reading) *work.sum = sum;
}

constexpr Variant<Streams> past_caches{
    .id = "past-caches",
    .parent = "vector-v3",
    .why = "stores past the caches: a line that is written whole is not read before",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = past_missing,
    .cost = past_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(past_caches);

} // namespace assay::kernels
