// build: -O3 -fopenmp
#include "kernels/bandwidth/move.hpp"
#include "kernels/bandwidth/spread.hpp"

namespace assay::kernels {

namespace {

void run(const Streams& work) {
    spread(work, move);
}

constexpr Variant<Streams> variant{
    .id = "threads",
    .parent = "plain",
    .why = "all threads",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
