// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/hyperbolic/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> threads_v3{
    .id = "threads-v3",
    .parent = "lanes-v3",
    .why = "all threads, each with its own rows",
    .isa = Isa::v3,
    .broken = false,
    .run = steps_side_by_side,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
