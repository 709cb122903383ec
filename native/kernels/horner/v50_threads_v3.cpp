// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/horner/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> threads_v3{
    .id = "threads-v3",
    .parent = "chains-v3",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Four, 10>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
