// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/bandwidth/move.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move);
}

constexpr Variant<Streams> threads_v4{
    .id = "threads-v4",
    .parent = "vector-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
