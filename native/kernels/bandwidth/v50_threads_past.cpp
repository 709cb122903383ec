// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/bandwidth/past.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move_past);
}

constexpr Variant<Streams> threads_past_caches{
    .id = "threads-past-caches",
    .parent = "past-caches",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = run,
    .missing = past_missing,
    .cost = past_cost,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_past_caches);

} // namespace assay::kernels
