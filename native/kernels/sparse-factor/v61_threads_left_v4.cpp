// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp
#include "kernels/sparse-factor/nodes.hpp"
#include "kernels/sparse-factor/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> threads_left_v4{
    .id = "threads-left-v4",
    .parent = "threads-left-v3",
    .why = "the same by vectors of eight",
    .isa = Isa::v4,
    .broken = false,
    .run = left_looking<Threads<Eight>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_left_v4);

} // namespace assay::kernels
