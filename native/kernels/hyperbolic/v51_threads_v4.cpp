// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fno-math-errno -fopenmp
#include "kernels/hyperbolic/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Gas> threads_v4{
    .id = "threads-v4",
    .parent = "lanes-v4",
    .why = "all threads, each with its own rows",
    .isa = Isa::v4,
    .broken = false,
    .run = steps_side_by_side,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
