// build: -O3 -fopenmp
#include "kernels/bandwidth/move.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move);
}

constexpr Variant<Streams> threads{
    .id = "threads",
    .parent = "plain",
    .why = "all threads",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads);

} // namespace assay::kernels
