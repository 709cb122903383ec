// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp
#include "kernels/sparse-factor/nodes.hpp"
#include "kernels/sparse-factor/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Factor> threads_right_v3{
    .id = "threads-right-v3",
    .parent = "right",
    .why = "vectors of four, and all threads for large products",
    .isa = Isa::v3,
    .broken = false,
    .run = right_looking<Threads<Four>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_right_v3);

} // namespace assay::kernels
